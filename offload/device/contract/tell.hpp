// SPDX-License-Identifier: Apache-2.0
//
// The operations of devices, told to tools where one listens. Any thread. `of`: the construct that they belong to, or
// null; `code`: the program's call then, if it is known.
#pragma once

#include "base/told.hpp"
#include "device/contract/device.hpp"

namespace marline::offload::device {

// Nanoseconds of CLOCK_MONOTONIC, which all processes of a machine share.
[[nodiscard]] uint64_t now();

void tell_write(Device* device, uint64_t to, const void* from, size_t bytes, Told* of, const void* code);
void tell_read(Device* device, void* to, uint64_t from, size_t bytes, Told* of, const void* code);

// As the device's own `write` and `read`.
inline void copy_to(Device* device, uint64_t to, const void* from, size_t bytes, Told* of, const void* code = nullptr) {
  if (is_told(MARLINE_ON_DATA | MARLINE_ON_TIMES)) [[unlikely]] {
    return tell_write(device, to, from, bytes, of, code);
  }
  device->kind->write(device, to, from, bytes);
}

inline void copy_from(Device* device, void* to, uint64_t from, size_t bytes, Told* of, const void* code = nullptr) {
  if (is_told(MARLINE_ON_DATA | MARLINE_ON_TIMES)) [[unlikely]] {
    return tell_read(device, to, from, bytes, of, code);
  }
  device->kind->read(device, to, from, bytes);
}

// A routine's operation as a whole, whatever copies it is made of: ompt_target_data_op_t; kSet is OpenMP 6.0's
// ompt_target_data_memset.
enum class Whole : int { kToDevice = 2, kFromDevice = 3, kSet = 8 };
struct Ends {
  const void* from;
  int from_device;
  const void* to;
  int to_device;
};
marline_operation_t begin_whole(Whole what, const Device* device, const Ends& ends, size_t bytes, const void* code);
void end_whole(marline_operation_t* operation);

template <class Work>
void tell_whole(Whole what, const Device* device, const Ends& ends, size_t bytes, const void* code, Work work) {
  if (!is_told(MARLINE_ON_DATA | MARLINE_ON_TIMES)) [[likely]] {
    return work();
  }
  marline_operation_t operation = begin_whole(what, device, ends, bytes, code);
  work();
  end_whole(&operation);
}

// The values of ompt_target_data_op_t that take no time of the device's.
enum class Memory : int { kAllocate = 1, kRelease = 4, kAssociate = 5, kDisassociate = 6 };
void tell_memory_slowly(Memory what, Device* device, const void* host, uint64_t address, size_t bytes, Told* of,
                        const void* code);

// It has been done, or is done next.
inline void tell_memory(Memory what, Device* device, const void* host, uint64_t address, size_t bytes, Told* of,
                        const void* code = nullptr) {
  if (is_told(MARLINE_ON_DATA | MARLINE_ON_TIMES)) [[unlikely]] {
    tell_memory_slowly(what, device, host, address, bytes, of, code);
  }
}

// Before a copy of a construct is started that goes on behind that. Where it is made, somebody sets begin and end, and
// tells that it is done.
[[nodiscard]] marline_operation_t tell_copy_started(const Device* device, const AheadCopy& copy, Told* of);

// Before and after the start of a kernel, and when it has ended; null: nothing.
void tell_kernel_begin(Told* of, const Device* device, unsigned teams);
void tell_kernel_started(Told* of);
void tell_kernel_end(Told* of, uint64_t begin, uint64_t end, const Device* by = nullptr);  // Operation::by

}  // namespace marline::offload::device
