// SPDX-License-Identifier: Apache-2.0
//
// The part of the machine's description that placement needs: for each level that OMP_PLACES can name, the CPUs of each
// object. It is read only when places are needed: this machine from /sys (topology_sysfs.hpp); a described machine, and
// what /sys does not tell, through hwloc, which takes milliseconds. The result is a plain value; no hwloc object
// remains.
#pragma once

#include <cstddef>
#include <cstdint>

#include "platform/topology/cpu_mask.hpp"

namespace marline {

// In the order in which OpenMP 5.1, 6.5 lists the abstract names.
enum class Level : int { kThreads, kCores, kLlCaches, kNumaDomains, kSockets };
inline constexpr int kLevels = 5;

// An array of masks on the heap.
struct MaskList {
  CpuMask* masks = nullptr;
  int count = 0;

  // False if memory is exhausted.
  [[nodiscard]] bool append(const CpuMask& mask);
  void remove(int index);
  void free_all();
};

struct Topology {
  CpuMask allowed;          // what the process may use; every object below is cut to it, and none is empty
  MaskList level[kLevels];  // in hwloc's logical order, i.e. neighbours are close; at least one object each
  MaskList groups;          // the sets of two CPUs or more that share something, each behind those that contain it
  static constexpr int kNodes = 256;
  int16_t domain_of_node[kNodes];  // the system's number of a memory node -> position in level[kNumaDomains], or -1
  bool this_system;  // false: a description (HWLOC_XMLFILE, HWLOC_SYNTHETIC); nothing can be bound or asked there
};

void topology_free(Topology& topology);

}  // namespace marline
