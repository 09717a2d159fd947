// SPDX-License-Identifier: Apache-2.0
//
// taskloop, as GCC calls it: each task gets its own copy of the argument block. The first two words of the copy are the
// task's bounds (the end excluded). With reductions, the third word leads to their description.
#include "construct/task/taskloop.hpp"

#include "abi/gomp/loop/loop.hpp"
#include "abi/gomp/task_block.hpp"
#include "construct/task/gcc_reduction.hpp"
#include "construct/task/task_reduction.hpp"
#include "exec/worker/announce.hpp"
#include "exec/worker/cancellation.hpp"

namespace marline::gomp {

namespace {

struct Loop {
  Function function;
  void* data;
  CopyFunction copy;
  size_t bytes;
  size_t align;
  unsigned flags;
  int priority;
  ChunkDepend depend;
};

TaskloopClause clause_of(unsigned flags, unsigned long value) {
  if (value == 0) return TaskloopClause::kNone;
  return flags & kGrainsize ? TaskloopClause::kGrainsize : TaskloopClause::kNumTasks;
}

void make_task(const Loop& loop, const Bounds& limits, const TaskloopPlan& plan, uint64_t i, const void* codeptr) {
  Worker* worker = depend_chunk(loop.depend, plan, i);
  if (loop.copy != nullptr && is_creation_cancelled(worker->task)) return;
  Task* task = allocate(worker, loop.function, task_flags(loop.flags), loop.bytes, loop.align, 0);
  if (loop.flags & kPriority) task->priority.store(loop.priority, relaxed);
  copy_arguments(task, loop.data, loop.bytes, loop.copy);
  auto* words = static_cast<uint64_t*>(arguments_of(task));
  words[0] = limits.start + plan.first(i) * limits.increment;
  words[1] = i + 1 == plan.tasks ? limits.end : words[0] + plan.count(i) * limits.increment;
  note_chunk(task, plan.first(i), plan.count(i));
  if (loop.flags & kIf) {
    spawn_task(worker, task, nullptr, 0, codeptr);
  } else {
    run_undeferred(worker, task, nullptr, 0, codeptr);
  }
}

void taskloop(const Loop& loop, const Bounds& limits, unsigned long value, const void* codeptr) {
  Worker* worker = this_worker();
  int threads = worker->member->team->size;
  TaskloopClause clause = clause_of(loop.flags, value);
  TaskloopPlan plan = taskloop_plan(limits.iterations, clause, value, loop.flags & kStrict, threads);
  bool group = !(loop.flags & kNogroup);
  if (group) taskgroup_begin(worker, codeptr);
  if (group && (loop.flags & kReduction)) {
    auto* chain = static_cast<GccReduction**>(loop.data)[2];
    gcc_reduction_allocate(chain, threads);
    gcc_reduction_attach(worker, chain);
  }
  announce_work(this_worker(), tool::Work::kTaskloop, tool::Endpoint::kBegin, limits.iterations, codeptr);
  for (uint64_t i = 0; i < plan.tasks; ++i) make_task(loop, limits, plan, i, codeptr);
  announce_work(this_worker(), tool::Work::kTaskloop, tool::Endpoint::kEnd, limits.iterations, codeptr);
  if (group) taskgroup_end(this_worker(), codeptr);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

void GOMP_taskloop(Function function, void* data, CopyFunction copy, long bytes, long align, unsigned flags,
                   unsigned long value, int priority, long start, long end, long step) {
  Loop loop{function,
            data,
            copy,
            static_cast<size_t>(bytes),
            static_cast<size_t>(align),
            flags,
            priority,
            take_chunk_depend(this_worker())};
  taskloop(loop, bounds(start, end, step), value, __builtin_return_address(0));
}

void GOMP_taskloop_ull(Function function, void* data, CopyFunction copy, long bytes, long align, unsigned flags,
                       unsigned long value, int priority, unsigned long long start, unsigned long long end,
                       unsigned long long step) {
  Loop loop{function,
            data,
            copy,
            static_cast<size_t>(bytes),
            static_cast<size_t>(align),
            flags,
            priority,
            take_chunk_depend(this_worker())};
  taskloop(loop, bounds_ull(flags & kUp, start, end, step), value, __builtin_return_address(0));
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::gomp
