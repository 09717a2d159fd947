// SPDX-License-Identifier: Apache-2.0
//
// What Clang passes to the __kmpc_* entry points. The layouts and values are facts of the interface: LLVM,
// openmp/runtime/src/kmp.h and clang/lib/CodeGen/CGOpenMPRuntime.cpp.
#pragma once

#include "sched/team.hpp"

#include <cstddef>
#include <cstdint>

namespace marline::kmp {

// ident_t: the construct's place in the source.
struct Ident {
  int32_t reserved_1;
  int32_t flags;
  int32_t reserved_2;
  int32_t reserved_3;
  const char* source;  // ";file;function;line;column;;"
};

inline constexpr int32_t kIdentAtomicReduce = 0x10;
inline constexpr int32_t kIdentSections = 0x400;
inline constexpr int32_t kIdentDistribute = 0x800;
inline constexpr int32_t kIdentImplicitBarrier = 0x40;  // with more bits for the construct that the barrier ends

inline tool::SyncRegion barrier_kind(const Ident* where) {
  bool implicit = (where->flags & kIdentImplicitBarrier) != 0;
  return implicit ? tool::SyncRegion::kBarrierImplicitWorkshare : tool::SyncRegion::kBarrierExplicit;
}

using CriticalName = int32_t[8];

// kmp_task_t. The task's private variables and shared pointers follow it.
struct TaskBlock {
  using Routine = int32_t (*)(int32_t gtid, TaskBlock*);
  void* shareds;
  Routine routine;
  int32_t part_id;      // untied tasks: where the routine goes on
  Routine destructors;  // of the privates, with kTaskDestructors
  union {
    int32_t priority;  // with kTaskPriority
    Routine reserved;
  };
};
static_assert(sizeof(TaskBlock) == 40);

// kmp_tasking_flags_t
inline constexpr int32_t kTaskTied = 0x1;
inline constexpr int32_t kTaskFinal = 0x2;
inline constexpr int32_t kTaskMergedIf0 = 0x4;
inline constexpr int32_t kTaskDestructors = 0x8;
inline constexpr int32_t kTaskProxy = 0x10;  // completes when a library calls __kmpc_proxy_task_completed
inline constexpr int32_t kTaskPriority = 0x20;
inline constexpr int32_t kTaskDetachable = 0x40;
inline constexpr int32_t kTaskInPool = 0x80;  // threadset(omp_pool), since Clang 22
inline constexpr int32_t kTaskTransparent =
    0x100;  // Clang 23.1 and 24, whatever the clause's argument is, omp_not_impex too

// kmp_depend_info
struct DependInfo {
  void* address;
  size_t length;
  uint8_t flags;
};
static_assert(sizeof(DependInfo) == 24);

// kmp_task_affinity_info_t
struct AffinityInfo {
  void* address;
  size_t bytes;
  int32_t flags;
};
static_assert(sizeof(AffinityInfo) == 24);

inline constexpr uint8_t kDependIn = 0x1;
inline constexpr uint8_t kDependOut = 0x2;
inline constexpr uint8_t kDependMutexinoutset = 0x4;
inline constexpr uint8_t kDependInoutset = 0x8;
inline constexpr uint8_t kDependAllMemory = 0x80;

using Microtask = void (*)(int32_t* gtid, int32_t* bound_tid, ...);

// The block's descriptor: allocate_task puts blocks of default alignment right after it.
inline Task* task_of(TaskBlock* block) { return reinterpret_cast<Task*>(block) - 1; }

}  // namespace marline::kmp
