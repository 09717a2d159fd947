// SPDX-License-Identifier: Apache-2.0
//
// Copies and fills memory on libomptarget's devices by address, for the routines about device memory. On NVIDIA's GPUs
// the task is suspended meanwhile (cuda_copy.hpp); on other devices libomptarget's own routine blocks the thread. Any
// thread may call these functions.
#pragma once

#include "device/contract/byte_runs.hpp"
#include "device/libomptarget/cuda/cuda_copy.hpp"

namespace marline::offload::device {

// All of them return 0 for success, and the work is complete when they return. The devices are ready; at least one end
// is a device. May suspend.
[[nodiscard]] int llvm_copy(const CopyEnd& to, const CopyEnd& from, size_t bytes);
[[nodiscard]] int llvm_copy_rectangle(const CopyEnd& to, const CopyEnd& from, const marline_rectangle_t& rectangle,
                                      size_t bytes);
// Copies runs of bytes, each of which has the same offset from both addresses.
[[nodiscard]] int llvm_copy_runs(const CopyEnd& to, const CopyEnd& from, const ByteRun* runs, size_t count);
// Never suspends, so the caller may hold locks.
[[nodiscard]] int llvm_read_now(void* to, const CopyEnd& from, size_t bytes);
[[nodiscard]] int llvm_fill(Device* device, char* address, int value, size_t bytes);

}  // namespace marline::offload::device
