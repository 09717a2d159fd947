// SPDX-License-Identifier: Apache-2.0
//
// Copies and fills of memory on libomptarget's devices by address, as the routines about device memory ask for them. On
// NVIDIA's GPUs the task is suspended (cuda_copy.hpp); elsewhere libomptarget's own routine holds the thread. Any
// thread.
#pragma once

#include "device/contract/byte_runs.hpp"
#include "device/libomptarget/cuda/cuda_copy.hpp"

namespace marline::offload::device {

// All of them return 0 for success, and are done at the return. The devices are ready; one end at least is a device.
// May suspend.
[[nodiscard]] int llvm_copy(const CopyEnd& to, const CopyEnd& from, size_t bytes);
[[nodiscard]] int llvm_copy_rectangle(const CopyEnd& to, const CopyEnd& from, const marline_rectangle_t& rectangle,
                                      size_t bytes);
// Runs that lie at their offsets from both addresses.
[[nodiscard]] int llvm_copy_runs(const CopyEnd& to, const CopyEnd& from, const ByteRun* runs, size_t count);
// Never suspends: for callers with locks.
[[nodiscard]] int llvm_read_now(void* to, const CopyEnd& from, size_t bytes);
[[nodiscard]] int llvm_fill(Device* device, char* address, int value, size_t bytes);

}  // namespace marline::offload::device
