// SPDX-License-Identifier: Apache-2.0
//
// task, taskwait, taskyield and taskgroup, as GCC calls them. GCC's untied tasks are ordinary calls: they suspend like
// any other, and may resume on another thread.
#include "construct/task/task.hpp"

#include "abi/gomp/task_block.hpp"
#include "exec/worker/cancellation.hpp"

#include <alloca.h>

namespace marline::gomp {

namespace {

// An undeferred task needs no copy of its arguments, unless they have copy constructors: then the task gets copies of
// its own.
void run_in_place(Worker* worker, Function function, void* data, CopyFunction copy, size_t bytes, size_t align,
                  unsigned flags, const DependenceBuffer& dependences, const void* codeptr) {
  if (dependences.count() != 0) {
    taskwait_depend(worker, dependences.list(), dependences.count(), codeptr);
    worker = this_worker();
  }
  Task* task = allocate_task(worker, {.invoke = nullptr, .code = code_of(function), .flags = task_flags(flags)});
  if (tool::present()) [[unlikely]] {
    note_entry(worker->task);
  }
  if (!try_begin_undeferred(worker, task, codeptr)) return;
  if (copy != nullptr) {
    auto space = reinterpret_cast<uintptr_t>(alloca(bytes + align - 1));
    void* own = reinterpret_cast<void*>((space + align - 1) & ~(uintptr_t{align} - 1));
    copy(own, data);
    data = own;
  }
  call_of(task, function, data);
  end_undeferred(task);
}

// The arguments of GOMP_task after `flags`.
struct Clauses {
  void** depend;
  int priority;
  void* detach;
};

[[gnu::always_inline]] inline void task_with_clauses(Function function, void* data, CopyFunction copy, size_t bytes,
                                                     size_t align, bool if_clause, unsigned flags,
                                                     const Clauses& clauses, const void* codeptr) {
  DependenceBuffer dependences;
  if (flags & kDepend) decode(dependences, clauses.depend);
  Worker* worker = this_worker();
  bool deferred = if_clause && !in_final(worker);
  if (!deferred && !(flags & kDetach)) {
    return run_in_place(worker, function, data, copy, bytes, align, flags, dependences, codeptr);
  }
  if (copy != nullptr && !(flags & kDetach) && is_creation_cancelled(worker->task)) return;
  Task* task = allocate(worker, function, task_flags(flags), bytes, align, dependences.count());
  if (flags & kPriority) task->priority.store(clauses.priority, relaxed);
  if (flags & kDetach) {  // the creator's variable, and the task's own copy of it, which is the block's first word
    *static_cast<void**>(clauses.detach) = detach_event(task);
    if (data != nullptr) *static_cast<void**>(data) = detach_event(task);
  }
  copy_arguments(task, data, bytes, copy);
  if (deferred) {
    spawn_task(worker, task, dependences.list(), dependences.count(), codeptr);
  } else {
    run_undeferred(worker, task, dependences.list(), dependences.count(), codeptr);
  }
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

// Arguments after `flags` are there only if their flag is set (older GCC passes fewer). A deferred task without clauses
// goes the short way.
void GOMP_task(Function function, void* data, CopyFunction copy, long bytes, long align, bool if_clause, unsigned flags,
               void** depend, int priority, void* detach) {
  const void* codeptr = __builtin_return_address(0);
  Worker* worker = this_worker();
  if ((flags & (kFinal | kDepend | kPriority | kDetach)) != 0 || !if_clause ||
      static_cast<size_t>(align) > sizeof(TaskBlock) || copy != nullptr || !is_simple(worker)) {
    task_with_clauses(function, data, copy, bytes, align, if_clause, flags, {depend, priority, detach}, codeptr);
    return;
  }
  Task* task = allocate_simple(worker, {.invoke = invoke,
                                        .code = code_of(function),
                                        .flags = task_flags(flags & (kUntied | kMergeable)),
                                        .block_bytes = sizeof(TaskBlock) + bytes});
  fill_block(task, function, sizeof(TaskBlock));
  copy_bytes(arguments_of(task), data, bytes);
  spawn_simple(worker, task, codeptr);
}

void GOMP_taskwait() { taskwait(this_worker(), __builtin_return_address(0)); }

void GOMP_taskwait_depend(void** depend) {
  DependenceBuffer dependences;
  decode(dependences, depend);
  taskwait_depend(this_worker(), dependences.list(), dependences.count(), __builtin_return_address(0));
}

// From GCC 13 on: `taskwait depend(...) nowait` (OpenMP 5.2, section 15.5).
void GOMP_taskwait_depend_nowait(void** depend) {
  DependenceBuffer dependences;
  decode(dependences, depend);
  spawn_empty_task(this_worker(), dependences.list(), dependences.count(), __builtin_return_address(0));
}

void GOMP_taskyield() { taskyield(this_worker()); }

void GOMP_taskgroup_start() { taskgroup_begin(this_worker(), __builtin_return_address(0)); }
void GOMP_taskgroup_end() { taskgroup_end(this_worker(), __builtin_return_address(0)); }

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::gomp
