// SPDX-License-Identifier: Apache-2.0
//
// The requests of the routines that copy and fill device memory. A request is carried out at once (routines.cpp) or by
// a task that the routine creates (deferred_copies.cpp). Any thread.
#pragma once

#include "device/contract/device.hpp"

namespace marline::offload::abi {

struct LinearCopy {
  void* to;
  const void* from;
  size_t bytes, to_offset, from_offset;
  int to_device, from_device;  // the program's device numbers
  const void* code;            // address of the program's call
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

// Copies at once: the bytes have been copied when the function returns. 0 means success. May suspend.
[[nodiscard]] int run(const LinearCopy& copy);
[[nodiscard]] int run(const RectangleCopy& copy);
void run(const Fill& fill);

}  // namespace marline::offload::abi
