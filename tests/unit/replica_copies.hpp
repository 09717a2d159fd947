// SPDX-License-Identifier: Apache-2.0
//
// For tests of a cluster's copies: copies of one buffer on nodes with a processor, or with a GPU that is memory of this
// process, and bytes in flight between copies.
#pragma once

#include "device/cluster/replica/replica.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <vector>

namespace marline::offload::device {

inline constexpr uint64_t kBegin = 0x1000000000, kEnd = kBegin + (1 << 14);  // the range of pointers

inline std::set<uint64_t> g_told;  // pointers reported by comparisons that had been postponed
inline const PointerSink kPostponedSink = {kBegin, kEnd, {}, [](uint64_t, const List<uint64_t>& words) {
                                             for (uint64_t word : words) g_told.insert(word);
                                           }};

// Pages of a process, since only these can be watched. Buffers begin anywhere in a page.
class Memory {
 public:
  explicit Memory(size_t bytes) : bytes_(bytes + kBehindPage) {
    memory_ = static_cast<char*>(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  }
  ~Memory() { munmap(memory_, bytes_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  char* data() { return memory_ + kBehindPage; }
  char& operator[](size_t i) { return data()[i]; }
  void watch(WrittenPages& pages) {
    auto begin = reinterpret_cast<uint64_t>(memory_);
    pages.watch(begin, (bytes_ + WrittenPages::kPage - 1) & ~(WrittenPages::kPage - 1));
  }

 private:
  static constexpr size_t kBehindPage = 192;
  size_t bytes_;
  char* memory_;
};

// Bytes that GPUs have kept, by address.
inline std::map<uint64_t, std::vector<char>> g_kept;

inline bool find_changes(uint64_t at, uint64_t bytes, List<uint64_t>& blocks) {
  for (const auto& [begin, kept] : g_kept) {
    if (at < begin || at + bytes > begin + kept.size()) continue;
    auto* now = reinterpret_cast<const char*>(at);
    for (uint64_t i = 0; i < bytes; i += 256) {
      if (std::memcmp(now + i, &kept[at - begin + i], std::min<uint64_t>(256, bytes - i)) != 0) blocks.push(i / 256);
    }
    return true;
  }
  return false;
}

// A GPU's memory is this process's own.
inline const GpuMemory kTestGpu = {
    [](uint64_t to, const char* from, const List<ByteRun>& runs) {
      for (const ByteRun& run : runs)
        std::memcpy(reinterpret_cast<char*>(to) + run.offset, from + run.offset, run.bytes);
    },
    [](uint64_t to, const List<ByteRun>& runs) {
      for (const ByteRun& run : runs) std::memset(reinterpret_cast<char*>(to) + run.offset, 0, run.bytes);
    },
    [](char* to, uint64_t from, const List<ByteRun>& runs) {
      for (const ByteRun& run : runs)
        std::memcpy(to + run.offset, reinterpret_cast<char*>(from) + run.offset, run.bytes);
    },
    [](char* to, uint64_t from, uint64_t bytes) { std::memcpy(to, reinterpret_cast<char*>(from), bytes); },
    [](uint64_t at, uint64_t bytes, uint64_t begin, uint64_t end, List<uint64_t>& blocks) {
      auto* words = reinterpret_cast<const uint64_t*>(at);
      for (uint64_t i = 0; i < bytes / 8; ++i) {
        bool is_known = !blocks.is_empty() && blocks.back() == i / 32;
        if (words[i] - begin < end - begin && !is_known) blocks.push(i / 32);
      }
      return true;
    },
    find_changes,
};

enum class Run { kDiff, kPages, kGpu, kPostponed };

struct Copy {
  explicit Copy(size_t bytes, Run run = Run::kDiff)
      : data(bytes),
        twin(bytes),
        gpu(run == Run::kGpu ? bytes : 0, '\x55'),
        replica(1, data.data(), twin.data(), bytes, run == Run::kGpu ? &kTestGpu : nullptr,
                reinterpret_cast<uint64_t>(gpu.data())) {}
  // The memory that tasks write.
  char* tasks() { return gpu.empty() ? data.data() : gpu.data(); }

  Memory data;
  std::vector<char> twin, gpu;
  Replica replica;
  WrittenPages pages;
  const WrittenPages* used_pages = nullptr;
  size_t writers = 0;  // tasks between their start and their comparison
};

// Bytes in flight.
class Sent {
 public:
  ~Sent() { std::free(bytes_); }
  Sent(const Sent&) = delete;
  Sent& operator=(const Sent&) = delete;
  static Sent answer(size_t node, Copy& from, Copy& to, const ClusterRange& range) {
    BlobWriter blob;
    from.replica.answer(static_cast<NodeNumber>(node), to.replica.number(), range, blob);
    return Sent(blob);
  }
  static Sent delta(Copy& from, const ClusterRange& range, uint64_t version) {
    BlobWriter blob;
    from.replica.pack(range, version, blob);
    return Sent(blob);
  }
  void arrive(Copy& to) const {
    BlobReader reader(bytes_, count_);
    to.replica.merge(reader);
  }
  [[nodiscard]] size_t count() const { return count_; }

 private:
  explicit Sent(BlobWriter& blob) : count_(blob.bytes()), bytes_(blob.take()) {}
  size_t count_;
  char* bytes_;
};

}  // namespace marline::offload::device
