// SPDX-License-Identifier: Apache-2.0
//
// The part of the machine's description that placement needs: for each level that OMP_PLACES can name, the CPUs of each
// object. It is read only when places are needed: this machine from /sys (topology_sysfs.hpp); a described machine, and
// a machine that /sys does not describe well enough, through hwloc, which takes milliseconds. The result is a plain
// value; no hwloc object remains.
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
  // The CPUs that the process may use. Every object below is reduced to them, and none is empty.
  CpuMask allowed;
  MaskList level[kLevels];  // in hwloc's logical order, i.e. neighbours are close; at least one object each
  // All sets of two or more CPUs that share an object, each after the sets that contain it.
  MaskList groups;
  static constexpr int kNodes = 256;
  // Position in level[kNumaDomains] by the system's number of a memory node, or -1.
  int16_t domain_of_node[kNodes];
  // False: a description (HWLOC_XMLFILE, HWLOC_SYNTHETIC), to which nothing can be bound and for which the kernel
  // cannot be asked.
  bool this_system;
};

void topology_free(Topology& topology);

}  // namespace marline
