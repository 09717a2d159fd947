// SPDX-License-Identifier: Apache-2.0
//
// See the header. A block is preceded by a BlockHead; a pool's use is one atomic count.
#include "construct/allocator.hpp"

#include "base/atomic.hpp"
#include "base/check.hpp"
#include "sched/team.hpp"
#include "task/own_icvs.hpp"

#include <bit>
#include <cstdlib>
#include <cstring>
#include <new>

namespace marline {

namespace {

// omp_alloctrait_key_t and omp_alloctrait_value_t, as in omp.h of both compilers.
enum Key : int { kSyncHint = 1, kAlignment, kAccess, kPoolSize, kFallback, kFallbackData, kPinned, kPartition };
enum Value : uintptr_t {
  kFalse = 0, kContended = 3, kPrivate = 6, kAll = 7, kCgroup = 10,
  kDefaultMemoryFallback = 11, kNullFallback, kAbortFallback, kAllocatorFallback,
  kEnvironment = 15, kNearest = 16,
};
constexpr uintptr_t kDefaultValue = ~uintptr_t{0};
constexpr uintptr_t kLastMemorySpace = 4;  // omp_low_lat_mem_space
constexpr AllocatorHandle kDefaultMemory = 1, kLastPredefined = 8;

struct Allocator {
  size_t alignment = 1;
  size_t pool_size = SIZE_MAX;
  uintptr_t fallback = kDefaultMemoryFallback;
  AllocatorHandle fallback_allocator = kNullAllocator;
  Atomic<size_t> used{0};
};

struct alignas(alignof(max_align_t)) BlockHead {
  void* memory;  // what malloc gave
  size_t bytes;
  AllocatorHandle handle;
};

Allocator* custom(AllocatorHandle handle) {
  return handle > kLastPredefined ? reinterpret_cast<Allocator*>(handle) : nullptr;
}

BlockHead* head_of(void* memory) { return static_cast<BlockHead*>(memory) - 1; }

// Each checks a trait's value and takes it over; false: refused.
bool set_alignment(Allocator& allocator, uintptr_t value) {
  if (value == kDefaultValue) return true;
  allocator.alignment = value;
  return std::has_single_bit(value);
}

bool set_fallback(Allocator& allocator, uintptr_t value) {
  if (value == kDefaultValue) return true;
  allocator.fallback = value;
  return value >= kDefaultMemoryFallback && value <= kAllocatorFallback;
}

bool set_trait(Allocator& allocator, const AllocatorTrait& trait) {
  uintptr_t value = trait.value;
  bool by_default = value == kDefaultValue;
  switch (trait.key) {
    case kSyncHint: return by_default || (value >= kContended && value <= kPrivate);
    case kAlignment: return set_alignment(allocator, value);
    case kAccess: return by_default || (value >= kAll && value <= kCgroup);
    case kPoolSize:
      if (!by_default) allocator.pool_size = value;
      return value > 0;
    case kFallback: return set_fallback(allocator, value);
    case kFallbackData:
      allocator.fallback_allocator = value;
      return true;
    case kPinned: return by_default || value == kFalse;
    case kPartition: return by_default || value == kEnvironment || value == kNearest;
    default: return false;
  }
}

bool reserve(Allocator* allocator, size_t bytes) {
  if (allocator == nullptr || allocator->pool_size == SIZE_MAX) return true;
  size_t used = allocator->used.load(relaxed);
  do {
    if (bytes > allocator->pool_size - used) return false;
  } while (!allocator->used.compare_exchange_weak(used, used + bytes, relaxed));
  return true;
}

void give_back(Allocator* allocator, size_t bytes) {
  if (allocator != nullptr && allocator->pool_size != SIZE_MAX) allocator->used.fetch_sub(bytes, relaxed);
}

void* allocate_block(AllocatorHandle handle, size_t alignment, size_t bytes, bool zeroed) {
  size_t offset = (sizeof(BlockHead) + alignment - 1) & ~(alignment - 1);
  size_t total;
  if (__builtin_add_overflow(bytes, offset, &total)) return nullptr;
  void* memory = nullptr;
  if (posix_memalign(&memory, alignment, total) != 0) return nullptr;
  char* block = static_cast<char*>(memory) + offset;
  new (head_of(block)) BlockHead{memory, bytes, handle};
  if (zeroed) std::memset(block, 0, bytes);
  return block;
}

void* fall_back(const Allocator& allocator, size_t alignment, size_t bytes, bool zeroed) {
  switch (allocator.fallback) {
    case kDefaultMemoryFallback: return allocator_allocate(kDefaultMemory, alignment, bytes, zeroed);
    case kAllocatorFallback: return allocator_allocate(allocator.fallback_allocator, alignment, bytes, zeroed);
    case kAbortFallback:
      fatal("an allocator with the trait omp_atv_abort_fb has no %zu bytes left (pool size %zu)", bytes,
            allocator.pool_size);
    default: return nullptr;
  }
}

}  // namespace

AllocatorHandle allocator_create(uintptr_t memory_space, int count, const AllocatorTrait* traits) {
  if (memory_space > kLastMemorySpace) return kNullAllocator;
  void* memory = std::malloc(sizeof(Allocator));
  if (memory == nullptr) return kNullAllocator;
  auto* allocator = new (memory) Allocator;
  bool accepted = true;
  for (int i = 0; i < count; ++i) accepted = accepted && set_trait(*allocator, traits[i]);
  bool complete = allocator->fallback != kAllocatorFallback || allocator->fallback_allocator != kNullAllocator;
  if (accepted && complete) return reinterpret_cast<AllocatorHandle>(allocator);
  std::free(allocator);
  return kNullAllocator;
}

void allocator_destroy(AllocatorHandle handle) { std::free(custom(handle)); }

AllocatorHandle allocator_default() { return this_worker()->task->icvs->allocator; }

void allocator_set_default(AllocatorHandle handle) {
  if (handle == kNullAllocator) return;
  Worker* worker = this_worker();
  writable_icvs(worker->task, worker->pool).allocator = handle;
}

void* allocator_allocate(AllocatorHandle handle, size_t alignment, size_t bytes, bool zeroed) {
  if (bytes == 0) return nullptr;
  if (handle == kNullAllocator) handle = allocator_default();
  Allocator* allocator = custom(handle);
  size_t aligned = alignment < alignof(BlockHead) ? alignof(BlockHead) : alignment;
  if (allocator != nullptr && aligned < allocator->alignment) aligned = allocator->alignment;
  if (!std::has_single_bit(aligned)) return nullptr;
  if (reserve(allocator, bytes)) {
    if (void* block = allocate_block(handle, aligned, bytes, zeroed)) return block;
    give_back(allocator, bytes);
  }
  return allocator != nullptr ? fall_back(*allocator, alignment, bytes, zeroed) : nullptr;
}

void* allocator_allocate_array(AllocatorHandle handle, size_t alignment, size_t count, size_t bytes) {
  size_t total;
  if (__builtin_mul_overflow(count, bytes, &total)) return nullptr;
  return allocator_allocate(handle, alignment, total, true);
}

void* allocator_reallocate(void* memory, size_t bytes, AllocatorHandle handle) {
  if (memory == nullptr) return allocator_allocate(handle, 0, bytes);
  const BlockHead* head = head_of(memory);
  void* grown = allocator_allocate(handle == kNullAllocator ? head->handle : handle, 0, bytes);
  if (grown == nullptr && bytes != 0) return nullptr;
  if (grown != nullptr) std::memcpy(grown, memory, head->bytes < bytes ? head->bytes : bytes);
  allocator_free(memory);
  return grown;
}

void allocator_free(void* memory) {
  if (memory == nullptr) return;
  const BlockHead* head = head_of(memory);
  give_back(custom(head->handle), head->bytes);
  std::free(head->memory);
}

}  // namespace marline
