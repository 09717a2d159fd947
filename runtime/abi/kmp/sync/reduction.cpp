// SPDX-License-Identifier: Apache-2.0
//
// Reductions, of worksharing constructs and of tasks, as Clang calls them.
#include "construct/parallel/reduction.hpp"

#include "abi/kmp/target.hpp"
#include "abi/kmp/types.hpp"
#include "construct/sync/reducing_region.hpp"
#include "construct/task/task.hpp"
#include "construct/task/task_reduction.hpp"
#include "exec/team/barrier.hpp"

#include <alloca.h>

namespace marline::kmp {

namespace {

bool atomic_possible(const Ident* where) { return where->flags & kIdentAtomicReduce; }

// kmp_taskred_input_t
struct TaskReductionInput {
  void* shared;
  void* original;
  size_t bytes;
  void (*initialise)(void* copy, void* original);
  void (*finalise)(void* copy);
  void (*combine)(void* into, void* copy);
  uint32_t flags;  // asks for copies that are made at the first use; Marline always does so
};
static_assert(sizeof(TaskReductionInput) == 56);

// kmp_task_red_input_t, of Clang up to 9: its initialiser takes the copy only.
struct OldTaskReductionInput {
  void* shared;
  size_t bytes;
  void (*initialise)(void* copy, void* original);
  void (*finalise)(void* copy);
  void (*combine)(void* into, void* copy);
  uint32_t flags;
};
static_assert(sizeof(OldTaskReductionInput) == 48);

template <class Input>
void* attach(int32_t count, const Input* inputs, void* (*original)(const Input&)) {
  Worker* worker = this_worker();
  auto* items = static_cast<ReductionItem*>(alloca(static_cast<size_t>(count) * sizeof(ReductionItem)));
  for (int32_t i = 0; i < count; ++i) {
    items[i] = {inputs[i].shared,     original(inputs[i]), inputs[i].bytes,
                inputs[i].initialise, inputs[i].finalise,  inputs[i].combine};
  }
  reductions_attach(worker, items, static_cast<size_t>(count));
  return worker->task->taskgroup;
}

void* attach_old(int32_t count, const OldTaskReductionInput* inputs) {
  return attach<OldTaskReductionInput>(count, inputs, [](const OldTaskReductionInput& input) { return input.shared; });
}

void* attach_new(int32_t count, const TaskReductionInput* inputs) {
  return attach<TaskReductionInput>(count, inputs, [](const TaskReductionInput& input) {
    return input.original != nullptr ? input.original : input.shared;
  });
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int32_t __kmpc_reduce_nowait(Ident* where, int32_t, int32_t, size_t, void*, void (*)(void*, void*),
                             CriticalName* lock) {
  return static_cast<int32_t>(reduction_begin(this_worker(), atomic_possible(where), lock_word(lock)));
}

void __kmpc_end_reduce_nowait(Ident* where, int32_t, CriticalName* lock) {
  reduction_end(this_worker(), atomic_possible(where), lock_word(lock));
}

int32_t __kmpc_reduce(Ident* where, int32_t, int32_t, size_t, void*, void (*)(void*, void*), CriticalName* lock) {
  return static_cast<int32_t>(reduction_begin(this_worker(), atomic_possible(where), lock_word(lock)));
}

void __kmpc_end_reduce(Ident* where, int32_t, CriticalName* lock) {
  reduction_end(this_worker(), atomic_possible(where), lock_word(lock));
  team_barrier(this_worker(), tool::SyncRegion::kBarrierImplementation, __builtin_return_address(0));
}

void* __kmpc_taskred_init(int32_t, int32_t count, TaskReductionInput* inputs) { return attach_new(count, inputs); }

// Of a taskgroup or taskloop in a taskgraph region (task/taskgraph.cpp).
void* __kmpc_taskgraph_taskred_init(int32_t, int32_t count, TaskReductionInput* inputs) {
  return attach_new(count, inputs);
}

void* __kmpc_task_reduction_init(int32_t, int32_t count, OldTaskReductionInput* inputs) {
  return attach_old(count, inputs);
}

// reduction(task, ...): each implicit task has a taskgroup of its own around the construct. The result of the taskgroup
// goes to the thread's private variable; the construct's ordinary reduction combines these variables.
void* __kmpc_taskred_modifier_init(Ident*, int32_t, int32_t, int32_t count, TaskReductionInput* inputs) {
  taskgroup_begin(this_worker(), __builtin_return_address(0), false);
  return attach_new(count, inputs);
}

void* __kmpc_task_reduction_modifier_init(Ident*, int32_t, int32_t, int32_t count, OldTaskReductionInput* inputs) {
  taskgroup_begin(this_worker(), __builtin_return_address(0), false);
  return attach_old(count, inputs);
}

void __kmpc_task_reduction_modifier_fini(Ident*, int32_t, int32_t) {
  taskgroup_end_reducing(this_worker(), __builtin_return_address(0));
}

void* __kmpc_task_reduction_get_th_data(int32_t, Taskgroup* group, void* address) {
  Worker* worker = this_worker();
  if (worker->context.shows_task) [[unlikely]] {
    return reduction_copy_to_claim(worker, group, address);
  }
  // Ties the task to its thread, perhaps after a wait (pin_current_task).
  void* copy = reduction_copy(worker, group, address);
  if (is_target_task(this_worker()->task)) reducing_region_begin();
  return copy;
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::kmp
