// SPDX-License-Identifier: Apache-2.0
//
// What a construct asks of its kernel besides data: from the call in the compiler's code (Region), through early
// submission (CapturedTask), to the device that starts the kernel (Launch). Each of these records has it as its base.
#pragma once

#include <cstdint>

namespace marline::offload::image {
struct Entry;
}

namespace marline::offload::device {

// What a region asks of a GPU besides teams and threads. It is passed on to libomptarget unchanged.
struct GpuGrid {
  uint64_t flags = 0;                       // without nowait
  uint32_t dynamic_memory = 0;              // bytes for each team, ompx_dyn_cgroup_mem
  uint32_t teams[2] = {}, threads[2] = {};  // in the second and third dimension

  bool operator==(const GpuGrid&) const = default;
};

struct KernelInvocation {
  const image::Entry* kernel = nullptr;
  int32_t thread_limit = 0;  // 0: none
  // GCC's code: the arguments are words of an array, and the kernel's only argument is the array's address.
  bool in_memory = false;
  // For GPUs: whether the first argument is the null pointer that Clang's convention requires (arguments of version 3),
  // the teams as the compiler passes them, the number of iterations of the region's loop, and the rest.
  bool leading_null = false;
  int32_t passed_teams = -1;
  uint64_t trip_count = 0;
  GpuGrid grid = {};

  bool operator==(const KernelInvocation&) const = default;
};

// With what differs between two regions of the same construct.
struct PlacedInvocation : KernelInvocation {
  const char* place = nullptr;  // the ident's text, ";file;function;line;column;;", or null; static storage
  // For a cluster: the node that runs the kernel, from 1 on (0: any node), and the device number that the region sees
  // (-1: the cluster's own).
  int32_t node = 0;
  int32_t device_number = -1;
};

}  // namespace marline::offload::device
