// SPDX-License-Identifier: Apache-2.0
//
// A set of CPUs by the operating system's numbers. A plain value.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace marline {

struct CpuMask {
  static constexpr int kCpus = 4096;
  static constexpr int kWordBits = 64;

  uint64_t words[kCpus / kWordBits] = {};

  [[nodiscard]] bool test(int cpu) const { return (words[cpu / kWordBits] >> (cpu % kWordBits) & 1) != 0; }
  void set(int cpu) { words[cpu / kWordBits] |= uint64_t{1} << (cpu % kWordBits); }
  void clear(int cpu) { words[cpu / kWordBits] &= ~(uint64_t{1} << (cpu % kWordBits)); }

  [[nodiscard]] int count() const {
    int total = 0;
    for (const uint64_t word : words) total += std::popcount(word);
    return total;
  }

  // The lowest member that is at least `from`, or -1.
  [[nodiscard]] int next(int from) const {
    for (int cpu = from; cpu < kCpus; cpu = (cpu / kWordBits + 1) * kWordBits) {
      const uint64_t rest = words[cpu / kWordBits] >> (cpu % kWordBits);
      if (rest != 0) return cpu + std::countr_zero(rest);
    }
    return -1;
  }
  [[nodiscard]] int first() const { return next(0); }
  [[nodiscard]] bool empty() const { return first() < 0; }

  CpuMask& operator|=(const CpuMask& other) {
    for (size_t i = 0; i < kCpus / kWordBits; ++i) words[i] |= other.words[i];
    return *this;
  }
  CpuMask& operator&=(const CpuMask& other) {
    for (size_t i = 0; i < kCpus / kWordBits; ++i) words[i] &= other.words[i];
    return *this;
  }
  bool operator==(const CpuMask&) const = default;
};

}  // namespace marline
