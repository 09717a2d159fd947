// SPDX-License-Identifier: Apache-2.0
//
// LLVM's routines for kinds of memory other than a device's own. Devices that run their kernels on this processor copy
// from any memory of the host, so malloc provides their host memory. A device in a process of its own shares no memory
// with the host.
#include "device/libomptarget/libomptarget.hpp"
#include "device/libomptarget/staging/pinned.hpp"
#include "registry/registry.hpp"

#include <cstdlib>

extern "C" {
void* omp_target_alloc(size_t bytes, int device);
void omp_target_free(void* pointer, int device);
}

namespace marline::offload::abi {

using namespace device;
using namespace registry;

namespace {

// The device, ready for use, if it is a device of libomptarget; else null.
Device* llvms(int number) {
  bool exists;
  Device* device = device_for_routine(number, exists);
  if (device == nullptr || device->kind->delegate == nullptr) return nullptr;
  prepare(device);
  return device;
}

// Whether host and device can use the same memory: the device is the host itself, or is in the same process.
bool shares_memory(int number) {
  bool exists;
  Device* device = device_for_routine(number, exists);
  return exists && (device == nullptr || device->kind->shares_memory);
}

}  // namespace

extern "C" {
#pragma GCC visibility push(default)

void* llvm_omp_target_alloc_host(size_t bytes, int number) {
  Device* device = llvms(number);
  return device != nullptr ? allocate_pinned(device, bytes) : std::malloc(bytes);
}
void llvm_omp_target_free_host(void* pointer, int) {
  if (!release_pinned(pointer)) std::free(pointer);
}

void* llvm_omp_target_alloc_shared(size_t bytes, int number) {
  if (Device* device = llvms(number)) {
    return reinterpret_cast<void* (*)(size_t, int)>(llvm_routine("llvm_omp_target_alloc_shared"))(bytes,
                                                                                                  llvm_number(device));
  }
  return shares_memory(number) ? std::malloc(bytes) : nullptr;
}
void llvm_omp_target_free_shared(void* pointer, int number) {
  if (Device* device = llvms(number)) {
    reinterpret_cast<void (*)(void*, int)>(llvm_routine("llvm_omp_target_free_shared"))(pointer, llvm_number(device));
  } else {
    std::free(pointer);
  }
}

void* llvm_omp_target_alloc_device(size_t bytes, int device) { return omp_target_alloc(bytes, device); }
void llvm_omp_target_free_device(void* pointer, int device) { omp_target_free(pointer, device); }

// Lets a device use memory of the program in place. A device of libomptarget returns the address that it uses for this
// memory.
void* llvm_omp_target_lock_mem(void* pointer, size_t bytes, int number) {
  Device* device = llvms(number);
  if (device == nullptr) return shares_memory(number) ? pointer : nullptr;
  auto lock = reinterpret_cast<void* (*)(void*, size_t, int)>(llvm_routine("llvm_omp_target_lock_mem"));
  return lock(pointer, bytes, llvm_number(device));
}
void llvm_omp_target_unlock_mem(void* pointer, int number) {
  Device* device = llvms(number);
  if (device == nullptr) return;
  reinterpret_cast<void (*)(void*, int)>(llvm_routine("llvm_omp_target_unlock_mem"))(pointer, llvm_number(device));
}

// Dynamic memory that the threads of a team share exists on GPUs only; on the host there is none, as with LLVM.
void* llvm_omp_target_dynamic_shared_alloc() { return nullptr; }
void* llvm_omp_get_dynamic_shared() { return nullptr; }

// Sets what libomptarget reports of its work (LIBOMPTARGET_INFO). Devices of other kinds report nothing.
void __tgt_set_info_flag(uint32_t flags) {
  const char* why;
  if (llvm_device_count(&why) <= 0) return;
  reinterpret_cast<void (*)(uint32_t)>(llvm_routine("__tgt_set_info_flag"))(flags);
}

#pragma GCC visibility pop
}  // extern "C"

}  // namespace marline::offload::abi
