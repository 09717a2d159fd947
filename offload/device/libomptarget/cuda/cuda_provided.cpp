// SPDX-License-Identifier: Apache-2.0
//
// Provides marline_device_memory_t. Threads without a context get that of the first GPU in use: MPI libraries keep
// streams and events of the context in which they have first seen a GPU's memory (Open MPI 5,
// opal/mca/accelerator/cuda), and use them in any thread that makes progress. A context stays current: libomptarget
// makes its own current at each call, and does not mind another.
#include "device/libomptarget/cuda/cuda_provided.hpp"

#include "device/libomptarget/cuda/cuda_copy.hpp"
#include "device/libomptarget/cuda/cuda_driver.hpp"

#include <marline/device_memory.h>

namespace marline::offload::device {

namespace {

int g_gpu = -1;  // written once, before the functions are provided

int prepare_thread() { return make_cuda_context_current(g_gpu) ? 0 : -1; }

int holds(const void* address) { return is_cuda_memory(address) ? 1 : 0; }

int read(void* to, const void* from, size_t bytes) {
  return cuda_read_now(to, static_cast<const char*>(from), bytes) == Copied::kYes ? 0 : -1;
}

int write(void* to, const void* from, size_t bytes) {
  return cuda_write_now(static_cast<char*>(to), from, bytes) == Copied::kYes ? 0 : -1;
}

constexpr marline_device_memory_t kMemory = {sizeof kMemory, prepare_thread, holds, read, write};

}  // namespace

void provide_cuda_memory(int gpu) {
  if (g_gpu >= 0 || !has_cuda_contexts()) return;
  g_gpu = gpu;
  marline_device_memory_provide(&kMemory);
}

}  // namespace marline::offload::device
