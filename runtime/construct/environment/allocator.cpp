// SPDX-License-Identifier: Apache-2.0
//
// Calls the allocators with the current task's values, and libomptarget for target memory.
#include "construct/environment/allocator.hpp"

#include "base/check.hpp"
#include "sched/team.hpp"
#include "task/default_device.hpp"
#include "task/own_icvs.hpp"

#include <dlfcn.h>
#include <cstring>

namespace marline {

using namespace allocators;

namespace {

// libomptarget's functions for one of LLVM's target spaces. Looked up at each call: the library may be loaded at any
// time, and a call is slow anyway. These blocks have no header of ours, because the host may not be able to access
// them.
struct TargetMemory {
  void* (*allocate)(size_t bytes, int device);
  void (*free)(void* memory, int device);

  explicit TargetMemory(uintptr_t space) {
    static constexpr const char* kNames[][2] = {{"llvm_omp_target_alloc_host", "llvm_omp_target_free_host"},
                                                {"llvm_omp_target_alloc_shared", "llvm_omp_target_free_shared"},
                                                {"llvm_omp_target_alloc_device", "llvm_omp_target_free_device"}};
    const auto& names = kNames[space - kTargetHostSpace];
    allocate = reinterpret_cast<decltype(allocate)>(dlsym(RTLD_DEFAULT, names[0]));
    free = reinterpret_cast<decltype(free)>(dlsym(RTLD_DEFAULT, names[1]));
  }
  [[nodiscard]] bool is_there() const { return allocate != nullptr && free != nullptr; }
};

int device() { return default_device_of(*this_worker()->task->icvs); }

bool is_target(AllocatorHandle handle) { return memory_allocator_target(handle) != 0; }

[[gnu::noinline]] void* allocate_perhaps_target(AllocatorHandle handle, size_t alignment, size_t bytes, bool zeroed) {
  if (is_target(handle)) {
    const TargetMemory target(memory_allocator_target(handle));
    if (target.is_there()) return bytes == 0 ? nullptr : target.allocate(bytes, device());
  }
  return memory_allocate(handle, alignment, bytes, zeroed);
}

[[gnu::noinline]] void free_perhaps_target(void* memory, AllocatorHandle handle) {
  if (is_target(handle)) {
    const TargetMemory target(memory_allocator_target(handle));
    if (target.is_there()) return target.free(memory, device());
  }
  memory_free(memory);
}

}  // namespace

AllocatorHandle allocator_default() { return this_worker()->task->icvs->allocator; }

void allocator_set_default(AllocatorHandle handle) {
  if (handle == kNullAllocator) return;
  Worker* worker = this_worker();
  writable_icvs(worker->task, worker->pool).allocator = handle;
}

void* allocator_allocate(AllocatorHandle handle, size_t alignment, size_t bytes, bool zeroed) {
  if (handle == kNullAllocator) handle = allocator_default();
  if (handle > kThreadMemory) return allocate_perhaps_target(handle, alignment, bytes, zeroed);
  return memory_allocate(handle, alignment, bytes, zeroed);
}

void* allocator_allocate_array(AllocatorHandle handle, size_t alignment, size_t count, size_t bytes) {
  size_t total;
  if (__builtin_mul_overflow(count, bytes, &total)) return nullptr;
  return allocator_allocate(handle, alignment, total, true);
}

void* allocator_reallocate(void* memory, size_t bytes, AllocatorHandle handle, AllocatorHandle from) {
  if (memory == nullptr) return allocator_allocate(handle, 0, bytes);
  if (bytes == 0) {
    allocator_free(memory, from);
    return nullptr;
  }
  if (is_target(handle) || is_target(from)) return nullptr;  // the length of the old block is not known
  return memory_reallocate(memory, bytes, handle);
}

void allocator_free(void* memory, AllocatorHandle handle) {
  if (memory == nullptr) return;
  if (handle > kThreadMemory) return free_perhaps_target(memory, handle);
  memory_free(memory);
}

}  // namespace marline
