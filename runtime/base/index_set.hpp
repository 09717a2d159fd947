// SPDX-License-Identifier: Apache-2.0
//
// A set of small numbers that finds its least and greatest member in constant time: one bit per number, and one bit per
// word of these bits. It has no lock: its user's lock guards it. Zero-initialised memory is an empty set.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace marline {

// Holds numbers below kSize, a multiple of 4096.
template <size_t kSize>
class IndexSet {
 public:
  static constexpr size_t kNone = ~size_t{0};

  void insert(size_t index) {
    words_[index / 64] |= bit(index);
    occupied_[index / 4096] |= bit(index / 64);
  }

  void erase(size_t index) {
    words_[index / 64] &= ~bit(index);
    if (words_[index / 64] == 0) occupied_[index / 4096] &= ~bit(index / 64);
  }

  [[nodiscard]] bool contains(size_t index) const { return (words_[index / 64] & bit(index)) != 0; }

  // The least member; kNone if there is none.
  [[nodiscard]] size_t first() const {
    for (size_t i = 0; i < kSize / 4096; ++i) {
      if (occupied_[i] == 0) continue;
      const size_t word = i * 64 + static_cast<size_t>(std::countr_zero(occupied_[i]));
      return word * 64 + static_cast<size_t>(std::countr_zero(words_[word]));
    }
    return kNone;
  }

  // The greatest member; kNone if there is none.
  [[nodiscard]] size_t last() const {
    for (size_t i = kSize / 4096; i-- > 0;) {
      if (occupied_[i] == 0) continue;
      const size_t word = i * 64 + top(occupied_[i]);
      return word * 64 + top(words_[word]);
    }
    return kNone;
  }

 private:
  static size_t top(uint64_t word) { return 63 - static_cast<size_t>(std::countl_zero(word)); }

  static_assert(kSize % 4096 == 0);
  static constexpr uint64_t bit(size_t index) { return uint64_t{1} << (index % 64); }

  uint64_t words_[kSize / 64] = {};
  uint64_t occupied_[kSize / 4096] = {};  // the words that have a member
};

}  // namespace marline
