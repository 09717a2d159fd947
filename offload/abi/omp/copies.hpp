// SPDX-License-Identifier: Apache-2.0
//
// What the routines that copy and fill device memory are asked for: now (routines.cpp), or by a task that they leave
// behind (deferred_copies.cpp). Any thread.
#pragma once

#include "device/contract/device.hpp"

namespace marline::offload::abi {

struct LinearCopy {
  void* to;
  const void* from;
  size_t bytes, to_offset, from_offset;
  int to_device, from_device;  // as the program counts
  const void* code;            // the program's call
};

struct RectangleCopy {
  void* to;
  const void* from;
  marline_rectangle_t shape;
  int to_device, from_device;
  const void* code;
};

struct Fill {
  void* to;
  int value;
  size_t bytes;
  int device;
  const void* code;
};

[[nodiscard]] bool is_valid(const LinearCopy& copy);
[[nodiscard]] bool is_valid(const RectangleCopy& copy);

// Done at the return; 0 for success. May suspend.
[[nodiscard]] int run(const LinearCopy& copy);
[[nodiscard]] int run(const RectangleCopy& copy);
void run(const Fill& fill);

}  // namespace marline::offload::abi
