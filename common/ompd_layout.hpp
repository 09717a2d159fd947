// SPDX-License-Identifier: Apache-2.0
//
// Where a debugger's library (ompd/) finds what it shows in the memory of a process on Marline. The runtime contains
// one such table, `marline_ompd_layout` (runtime/exec/view/debugger.cpp); the compiler computes its offsets. The
// library reads the table first and everything else by it, so it does not include the runtime's structures. Any change
// of OmpdLayout needs another kVersion.
#pragma once

#include <cstdint>

namespace marline {

// A member of a structure: its distance from the structure's begin, and its size.
struct OmpdField {
  uint16_t at, bytes;
};

struct OmpdLayout {
  static constexpr uint32_t kVersion = 1;
  static constexpr unsigned kSizeClasses = 18;

  uint32_t version;
  uint32_t bytes;  // of this table

  // Addresses in the process. Zero until the runtime has started with OMP_DEBUG=enabled.
  uint64_t newest_worker;    // of a pointer to a Worker
  uint64_t options;          // of the Options
  uint64_t affinity_format;  // of a pointer to affinity-format-var; null there: as in the Options
  uint64_t variables;        // a text: "NAME=VALUE\n" for each environment variable that the runtime reads

  int32_t processors;
  int32_t openmp_version;
  char runtime[32];  // "Marline 1.2.3"

  struct {
    OmpdField task, member, fiber, memberships, created_before, thread, handle, region, data;
    OmpdField wait_task, wait_state, wait_id;
  } worker;
  struct {
    OmpdField worker, team, index, next_membership, implicit_task, exit_frame, enter_frame, exit_flags, enter_flags;
    uint32_t size;
  } member;
  struct {
    OmpdField size, level, active_level, members, parent_member, microtask, data;
  } team;
  struct {
    OmpdField block, parent, team, fiber, flags, icvs, data;
    uint32_t implicit, final;  // bits of `flags`
  } task;
  struct {
    OmpdField num_threads, max_active_levels, schedule, chunk, default_device, thread_limit, dynamic, monotonic;
    OmpdField clause_bind;
  } icvs;
  struct {
    OmpdField caller, task;
  } fiber;
  // What lies at the end of an explicit task's block, Options::tail_bytes before it.
  struct {
    OmpdField beneath, code, exit_frame, enter_frame, exit_flags, enter_flags;
  } tail;
  struct {
    OmpdField num_threads, num_threads_count, proc_bind, proc_bind_count;  // the lists as arrays of int
    OmpdField stacksize, cancellation, max_task_priority, debug, display_affinity, affinity_format;
    OmpdField tool, tool_libraries, tool_verbose_init, tail_bytes;
  } option;
  // The size of a block is in the header of its slab (runtime/base/memory/slab.hpp). The header lies at
  // base + base / bytes % colours * line, where base is the block's address rounded down to a multiple of `bytes`.
  struct {
    uint32_t bytes, colours, line;
    OmpdField size_class;
    uint16_t class_bytes[kSizeClasses];
  } slab;
};

}  // namespace marline
