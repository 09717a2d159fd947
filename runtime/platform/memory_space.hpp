// SPDX-License-Identifier: Apache-2.0
//
// OpenMP's memory spaces (5.2, section 6.1) as sets of the machine's memory nodes, and the placement of memory on them.
// The nodes of a space follow from the bandwidth, latency and size that hwloc reports; if no node differs from the
// others, a space is the whole memory (the standard leaves this to the implementation). The machine is examined once,
// when the program first asks for a space other than the default one. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/spin_lock.hpp"
#include "config/allocator_choice.hpp"

namespace marline {

extern SpinLock g_memory_spaces_lock;  // held while the machine is examined; held across fork

// A set of memory nodes, by the system's numbers. A value.
class NodeSet {
 public:
  static constexpr int kNodes = 256;  // nodes with higher numbers are not used
  static constexpr int kWordBits = 64;

  void add(int node) { words_[node / kWordBits] |= uint64_t{1} << (node % kWordBits); }
  [[nodiscard]] bool has(int node) const { return (words_[node / kWordBits] >> (node % kWordBits) & 1) != 0; }
  [[nodiscard]] int count() const;
  // The least member that is at least `from`, or -1.
  [[nodiscard]] int next(int from) const;
  [[nodiscard]] const uint64_t* words() const { return words_; }
  bool operator==(const NodeSet&) const = default;

 private:
  uint64_t words_[kNodes / kWordBits] = {};
};

struct MemoryNode {
  int number;  // the system's
  uint64_t bytes;
  uint64_t bandwidth;  // MB/s from the nearest CPUs; 0: unknown
  uint64_t latency;    // ns from the nearest CPUs; 0: unknown
  bool fast_by_name;   // hwloc calls it HBM or MCDRAM
};

// The memory nodes of a machine, without a GPU's memory. A value.
struct MemoryNodes {
  MemoryNode nodes[NodeSet::kNodes];
  int count;
  bool this_system;  // false: read from a description, and memory cannot be bound
};

// Reads this machine, or the machine that hwloc's environment variables describe, or, with a path, the machine of an
// XML export.
bool memory_nodes_read(const char* xml_path, MemoryNodes& result, const char*& reason);

// The nodes of one of the predefined spaces.
NodeSet memory_space_among(const MemoryNodes& machine, allocators::PredefinedSpace space);

// The nodes of a space on the process's machine. At least one node; unknown numbers mean kDefaultSpace.
const NodeSet& memory_space(allocators::PredefinedSpace space);

// Whether memory can be placed: there are several nodes, and they are this machine's.
bool memory_can_be_placed();

// Sets the placement of untouched pages: on the nodes of `space`, distributed by `partition` (an
// omp_alloctrait_value_t), and on other nodes if these are full. False: the system refuses.
[[nodiscard]] bool memory_place(void* pages, size_t bytes, const NodeSet& space, uintptr_t partition);

}  // namespace marline
