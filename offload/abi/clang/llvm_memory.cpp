// SPDX-License-Identifier: Apache-2.0
//
// LLVM's routines for memory of other kinds than a device's own. Devices whose kernels run on this processor copy from
// any memory of the host, so host memory is malloc's; one of their own processes shares none with the host.
#include "device/contract/kinds.hpp"
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

// The device if it is one of libomptarget's, ready for use.
Device* llvms(int number) {
  bool exists;
  Device* device = device_for_routine(number, exists);
  if (device == nullptr || device->kind != &kLlvmKind) return nullptr;
  prepare(device);
  return device;
}

// Host and device may use it: those of the same process.
bool shares_memory(int number) {
  bool exists;
  Device* device = device_for_routine(number, exists);
  return exists && (device == nullptr || device->kind == &kHostKind);
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

// Memory of the program that a device may use in place: libomptarget's devices say by which address.
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

// Memory that the threads of a team share is the GPU's business; on the host there is none, as with LLVM.
void* llvm_omp_target_dynamic_shared_alloc() { return nullptr; }
void* llvm_omp_get_dynamic_shared() { return nullptr; }

// What libomptarget is to say of its work (LIBOMPTARGET_INFO). Devices that are not its own say nothing of theirs.
void __tgt_set_info_flag(uint32_t flags) {
  const char* why;
  if (llvm_device_count(&why) <= 0) return;
  reinterpret_cast<void (*)(uint32_t)>(llvm_routine("__tgt_set_info_flag"))(flags);
}

#pragma GCC visibility pop
}  // extern "C"

}  // namespace marline::offload::abi
