// SPDX-License-Identifier: Apache-2.0
//
// Provides marline_device_memory_t. One context serves all threads, because MPI libraries keep streams and events of
// the context in which they have first seen a GPU's memory (Open MPI 5, opal/mca/accelerator/cuda), and use them in any
// thread that makes progress. A context stays current: libomptarget makes its own current at each call, and does not
// mind another.
#include "device/libomptarget/cuda/cuda_provided.hpp"

#include "device/libomptarget/copies.hpp"
#include "device/libomptarget/cuda/cuda_driver.hpp"

#include <marline/device_memory.h>

namespace marline::offload::device {

namespace {

// Written once, before the functions are provided.
Device* g_device = nullptr;
int g_gpu = -1;

void prepare_thread() { make_cuda_context_current(g_gpu); }

int holds(const void* address) { return is_cuda_memory(address) ? 1 : 0; }

int read(void* to, const void* from, size_t bytes) {
  return cuda_read_now(to, static_cast<const char*>(from), bytes) == Copied::kYes ? 0 : -1;
}

int write(void* to, const void* from, size_t bytes) {
  return llvm_copy({g_device, static_cast<char*>(to)}, {nullptr, static_cast<char*>(const_cast<void*>(from))}, bytes);
}

constexpr marline_device_memory_t kMemory = {sizeof kMemory, prepare_thread, holds, read, write};

}  // namespace

void provide_cuda_memory(Device* device, int gpu) {
  if (g_device != nullptr || !has_cuda_contexts()) return;
  g_device = device;
  g_gpu = gpu;
  marline_device_memory_provide(&kMemory);
}

}  // namespace marline::offload::device
