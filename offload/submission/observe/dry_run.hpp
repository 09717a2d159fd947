// SPDX-License-Identifier: Apache-2.0
//
// Finds out what a target task of Clang's code will do, when the task is created: calls the task's entry, while the
// thread's __tgt_* calls only record their arguments and return. The call has no other effect, as the entry only fills
// arrays on its stack from the task's private data, which is complete by then, and calls one __tgt_* function. Entries
// that do something else are not called:
// - The body of a region for the host (the clause `if` is false). Such code does not call __tgt_*. A host body with a
//   target construct inside, which OpenMP does not allow, would be taken for an entry.
// - An entry with the clause thread_limit: it calls the runtime first, which changes the current task.
// - An entry that calls the __tgt_* functions of another library.
//
// Used by the thread that creates the task.
#pragma once

#include "base/list.hpp"
#include "device/contract/capture.hpp"
#include "device/contract/delegate.hpp"
#include "submission/observe/region_comparison.hpp"

namespace marline::offload::submission {

using namespace cluster;
using namespace device;
using namespace items;

// One dry run. On the stack of run_dry or compare_dry.
struct Recording {
  const marline_target_task_t& reported;
  uintptr_t stack_end;           // the entry's frames lie below this address
  CapturedTask* task = nullptr;  // null: no construct has been called, or it cannot be captured
  int calls = 0;
  List<marline_reduction_t> reductions = {};  // the reductions in which the task takes part
  RegionComparison* comparison = nullptr;     // null: the construct is captured, else only compared with a known one
};

// The dry run of the calling thread, which does not suspend meanwhile; null: none.
extern thread_local constinit Recording* t_recording;

// Called when the entry asks for its copy of a variable of a task reduction.
void record_reduction(Recording& recording, const marline_reduction_t& reduction);

// During a dry run, the __tgt_* functions call one of these functions and do nothing else.
void record_region(Recording& recording, const Origin& call, int64_t device, void* id, int32_t teams, int32_t threads,
                   const KernelArguments& given);
void record_data(Recording& recording, const Origin& call, ConstructKind kind, int64_t device, const Items& items);

// Captures the task by a dry run (capture_task). Null: what the task does is known only when it runs.
[[nodiscard]] CapturedTask* run_dry(const marline_target_task_t& reported);

// Compares what the task does with a known region of the same entry, which has been run dry before.
void compare_dry(const marline_target_task_t& reported, RegionComparison& comparison);

}  // namespace marline::offload::submission
