// SPDX-License-Identifier: Apache-2.0
//
// Notifies tools of the operations of devices, if a tool listens. Any thread may call these functions. `of` is the
// construct that the operation belongs to, or null; without a construct, `code` is the program's call, if it is known.
#pragma once

#include "base/now.hpp"
#include "base/reported_construct.hpp"
#include "device/contract/device.hpp"

namespace marline::offload::device {

void report_write(Device* device, uint64_t to, const void* from, size_t bytes, ReportedConstruct* of, const void* code);
void report_read(Device* device, void* to, uint64_t from, size_t bytes, ReportedConstruct* of, const void* code);

// The device's own `write` and `read`, with notifications.
inline void copy_to(Device* device, uint64_t to, const void* from, size_t bytes, ReportedConstruct* of,
                    const void* code = nullptr) {
  if (is_reported(MARLINE_ON_DATA | MARLINE_ON_TIMES)) [[unlikely]] {
    return report_write(device, to, from, bytes, of, code);
  }
  device->kind->write(device, to, from, bytes);
}

inline void copy_from(Device* device, void* to, uint64_t from, size_t bytes, ReportedConstruct* of,
                      const void* code = nullptr) {
  if (is_reported(MARLINE_ON_DATA | MARLINE_ON_TIMES)) [[unlikely]] {
    return report_read(device, to, from, bytes, of, code);
  }
  device->kind->read(device, to, from, bytes);
}

// A routine's operation as a whole, independent of the copies that it consists of. The values are those of
// ompt_target_data_op_t; kSet is ompt_target_data_memset of OpenMP 6.0.
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
void report_whole(Whole what, const Device* device, const Ends& ends, size_t bytes, const void* code, Work work) {
  if (!is_reported(MARLINE_ON_DATA | MARLINE_ON_TIMES)) [[likely]] {
    return work();
  }
  marline_operation_t operation = begin_whole(what, device, ends, bytes, code);
  work();
  end_whole(&operation);
}

// The values of ompt_target_data_op_t for operations that take no time on the device.
enum class Memory : int { kAllocate = 1, kRelease = 4, kAssociate = 5, kDisassociate = 6 };
void report_memory_slowly(Memory what, Device* device, const void* host, uint64_t address, size_t bytes,
                          ReportedConstruct* of, const void* code);

// Called before or after the operation.
inline void report_memory(Memory what, Device* device, const void* host, uint64_t address, size_t bytes,
                          ReportedConstruct* of, const void* code = nullptr) {
  if (is_reported(MARLINE_ON_DATA | MARLINE_ON_TIMES)) [[unlikely]] {
    report_memory_slowly(what, device, host, address, bytes, of, code);
  }
}

// Called before a copy is started that continues after its construct's call. The thread that makes the copy sets begin
// and end, and reports that it is done.
[[nodiscard]] marline_operation_t report_copy_started(const Device* device, const DeviceCopy& copy,
                                                      ReportedConstruct* of);

// Called before and after a kernel is started, and when it has ended. A null construct: nothing is reported.
void report_kernel_begin(ReportedConstruct* of, const Device* device, unsigned teams);
void report_kernel_started(ReportedConstruct* of);
void report_kernel_end(ReportedConstruct* of, uint64_t begin, uint64_t end,
                       const Device* by = nullptr);  // Operation::by

}  // namespace marline::offload::device
