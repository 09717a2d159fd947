// SPDX-License-Identifier: Apache-2.0
//
// Tied deferred tasks without clauses, where they do not go the short way, or leave it.
#include "abi/kmp/task/simple_task.hpp"

#include "exec/worker/run_task.hpp"
#include "sched/progress.hpp"

namespace marline::kmp {

int32_t spawn_with_descriptor(Worker* worker, Task* task, const void* codeptr) {
  spawn_simple(worker, task, codeptr);
  return 0;
}

int32_t queue(Worker* worker, Task* task, const void* codeptr) {
  queue_simple(worker, task, codeptr);
  return 0;
}

int32_t complete_rarely(Worker* worker, Task* task) {
  check_overrun(last_called(worker));
  if (leaves_nothing(task)) {
    SlabPool::release(task, worker->pool);
  } else {
    complete_uncounted(worker, task);
  }
  progress_at_scheduling_point(worker);
  return 0;
}

}  // namespace marline::kmp
