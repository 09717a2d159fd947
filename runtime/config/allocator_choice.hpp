// SPDX-License-Identifier: Apache-2.0
//
// The value of OMP_ALLOCATOR (OpenMP 5.2, section 21.5.1), and the numbers of allocators, memory spaces and traits,
// which are the numbers in omp.h of GCC and of LLVM. OpenMP 6.0 changed two numbers in LLVM's omp.h:
// omp_default_mem_space from 0 (now the null space) to 99, and omp_atv_all from 7 (now omp_atv_device) to 19. No
// allocator can be made in the null space, and host and device are the same here, so both old and new numbers are
// understood. Plain values.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../common/text.hpp"

namespace marline {

namespace allocators {

// omp_allocator_handle_t of the predefined allocators. A handle above kLastNumber is the address of an allocator that
// was made at run time.
enum PredefinedAllocator : uintptr_t {
  kNullAllocator,
  kDefaultMemory,
  kLargeCapacityMemory,
  kConstantMemory,
  kHighBandwidthMemory,
  kLowLatencyMemory,
  kCgroupMemory,
  kTeamMemory,
  kThreadMemory,
  kGccPinnedMemory14 = 9,
  // The numbers of ompx_gnu_pinned_mem_alloc in GCC 14 (above) and in GCC 15.
  kGccPinnedMemory = 200,
  kTargetHostMemory = 100,
  kTargetSharedMemory,
  kTargetDeviceMemory,  // llvm_omp_target_*_mem_alloc
};
inline constexpr uintptr_t kLastNumber = 4095;

// omp_memspace_handle_t; a handle above kLastNumber is the address of a memory space that was made at run time.
enum PredefinedSpace : uintptr_t {
  kDefaultSpace,
  kLargeCapacitySpace,
  kConstantSpace,
  kHighBandwidthSpace,
  kLowLatencySpace,
  kDefaultSpace60 = 99,
  kTargetHostSpace = 100,
  kTargetSharedSpace,
  kTargetDeviceSpace,
};

// omp_alloctrait_key_t; the keys from kPinDevice on are OpenMP 6.0's.
enum TraitKey : int {
  kSyncHint = 1,
  kAlignment,
  kAccess,
  kPoolSize,
  kFallback,
  kFallbackData,
  kPinned,
  kPartition,
  kPinDevice,
  kPreferredDevice,
  kDeviceAccess,
  kTargetAccess,
  kAtomicScope,
  kPartSize,
};

// omp_alloctrait_value_t.
enum TraitValue : uintptr_t {
  kFalse = 0,
  kTrue = 1,
  kContended = 3,
  kUncontended,
  kSerialized,
  kPrivate,
  kAll = 7,
  kThread,
  kTeam,
  kCgroup,
  kDefaultMemoryFallback = 11,
  kNullFallback,
  kAbortFallback,
  kAllocatorFallback,
  kEnvironment = 15,
  kNearest,
  kBlocked,
  kInterleaved,
  kAll60 = 19,
  kSingle,
  kMultiple,
  kMemorySpaceAccess,
};
inline constexpr uintptr_t kDefaultValue = ~uintptr_t{0};

}  // namespace allocators

// omp_alloctrait_t.
struct AllocatorTrait {
  int key;
  uintptr_t value;
};

struct AllocatorChoice {
  static constexpr int kMaxTraits = 16;

  // Of a predefined allocator; kNullAllocator: an allocator with the space and the traits below.
  uintptr_t handle;
  uintptr_t space;
  int count;
  AllocatorTrait traits[kMaxTraits];
};

// Moves the cursor past a whole value. False: the value is malformed, and the choice is undefined.
bool read_allocator(Cursor& in, AllocatorChoice& result);
void show_allocator(Text& out, const AllocatorChoice& choice);

}  // namespace marline
