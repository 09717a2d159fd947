// SPDX-License-Identifier: Apache-2.0
//
// What GCC passes with target constructs: one address, size and kind per variable (GCC, include/gomp-constants.h).
// Without devices the region gets the addresses of the variables, except for private copies.
#pragma once

#include "abi/gomp/task_block.hpp"
#include "marline/devices.h"

namespace marline::gomp {

inline constexpr unsigned kNowait = 1u << 0;  // GOMP_TARGET_FLAG_NOWAIT

struct MappedVariables {
  size_t count;
  void** addresses;
  const size_t* sizes;
  const unsigned short* kinds;  // the kind, and from bit 8 on the logarithm of the alignment
  void** originals = nullptr;   // marline_device_maps_t::originals; set for a region that may run on a device
};

// The variables in the form that the provider of devices gets. `code`: the call in the program.
[[nodiscard]] inline marline_device_maps_t maps_of(const MappedVariables& variables, const void* code, bool nowait,
                                                   int node = 0) {
  return {variables.count,    variables.addresses, variables.sizes, variables.kinds, code, nowait ? 1 : 0, node,
          variables.originals};
}

// The deferred target region that the calling thread runs, as a task; null: it runs none, or its creator waits for it.
[[nodiscard]] Task* current_target_task();

// Copies sizes and kinds to the arrays of `to`, which must have room for them.
void copy_description(const MappedVariables& from, const MappedVariables& to);

// The memory that a region's own copies take, side by side in the order of the variables: firstprivate variables, and
// data that gfortran's code passes by the address of a temporary. All regions of the construct share this temporary,
// and it is gone when the function returns. Such data are the bounds of loops and arrays and, for a device, the
// pointers that hold an array's base, and descriptors, which the program may change while the region waits to run.
struct PrivateRoom {
  size_t bytes = 0;
  size_t align = 1;
  bool for_device = false;
  bool with_bounds = false;
  // Stack addresses of the functions around the construct; both functions below use them.
  uintptr_t frames_low = 0, frames_high = 0;
};

[[nodiscard]] PrivateRoom private_room(const MappedVariables& variables, bool for_device);

// Copies the variables to `memory`, which is as `room` says, and writes the addresses that the region gets to
// `addresses`.
void copy_private(const MappedVariables& variables, const PrivateRoom& room, char* memory, void** addresses);

// The value of a thread_limit clause in the list of GOMP_target_ext's `args`; 0: none.
[[nodiscard]] int thread_limit_of(void* const* arguments);

// Ends the program if the device, as the program numbers it, must not be the host (OMP_TARGET_OFFLOAD).
void must_be_host(Worker* worker, int device);

}  // namespace marline::gomp
