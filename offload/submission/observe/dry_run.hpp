// SPDX-License-Identifier: Apache-2.0
//
// What a target task of Clang's code will do, found when it is created: its entry is called while the thread's __tgt_*
// calls write down what they are given, and return. That has no effect, as the entry only fills arrays on its stack
// from the task's private data, which is complete by then, and calls one of them. Entries that do something else are
// not called:
// - The body of a region for the host (the clause `if` is false). Such code does not call __tgt_*. A host body with a
//   target construct inside, which OpenMP does not allow, would be taken for an entry.
// - With the clause thread_limit the entry calls the runtime first, which changes the current task.
// - Entries whose __tgt_* are another library's.
// The thread that creates the task.
#pragma once

#include "cluster/base/list.hpp"
#include "device/contract/capture.hpp"
#include "device/libomptarget/libomptarget.hpp"
#include "submission/observe/region_comparison.hpp"

namespace marline::offload::submission {

using namespace cluster;
using namespace device;
using namespace items;

// One dry run. On the stack of run_dry.
struct Recording {
  const marline_target_task_t& told;
  uintptr_t stack_end;           // the entry's frames lie below
  CapturedTask* task = nullptr;  // null: nothing has been called, or it cannot be captured
  int calls = 0;
  List<marline_reduction_t> reductions = {};  // in which the task takes part
  RegionComparison* comparison = nullptr;     // null: it is captured
};

// Of the calling thread, which does not suspend while it is set; else null.
extern thread_local constinit Recording* t_recording;

// The entry asks for its copy of a variable of a task reduction.
void record_reduction(Recording& recording, const marline_reduction_t& reduction);

// In place of the construct.
void record_region(Recording& recording, const Origin& call, int64_t device, void* id, int32_t teams, int32_t threads,
                   const KernelArguments& given);
void record_data(Recording& recording, const Origin& call, ConstructKind kind, int64_t device, const Items& items);

// What the task does, in one block (free_captured). Null: that is known only when it runs.
[[nodiscard]] CapturedTask* run_dry(const marline_target_task_t& told);

// Only compares what the task does with what is known of it, whose entry it has: that has been run dry before.
void compare_dry(const marline_target_task_t& told, RegionComparison& comparison);

}  // namespace marline::offload::submission
