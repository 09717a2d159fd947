// SPDX-License-Identifier: Apache-2.0
//
// task, taskwait, taskyield and taskgroup, as GCC calls them. GCC's untied tasks are ordinary calls: they suspend like
// any other, and may resume on another thread.
#include "construct/task/task.hpp"

#include "abi/gomp/in_place.hpp"
#include "abi/gomp/simple_task.hpp"
#include "abi/gomp/task_block.hpp"
#include "exec/worker/cancellation.hpp"

#include <alloca.h>

namespace marline::gomp {

namespace {

// An undeferred task needs no copy of its arguments, unless they have copy constructors: then the task gets copies of
// its own.
void run_undeferred(Worker* worker, Function function, void* data, CopyFunction copy, size_t bytes, size_t align,
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
    void* own = aligned_to(align, alloca(bytes + align - 1));
    copy(own, data);
    data = own;
  }
  call_of(task, function, data);
  end_undeferred(task);
}

// The last arguments of GOMP_task. Each is there only if its flag is set (older GCC passes fewer).
struct Clauses {
  void** depend;
  int priority;
  void* detach;
};

// Any task. The arguments are those of GOMP_task, where it has them, except for two: kIf stands for `if_clause`, and in
// the place of the latter there is `codeptr`.
[[gnu::noinline]] void task_with_clauses(Function function, void* data, CopyFunction copy, long bytes, long align,
                                         const void* codeptr, unsigned flags, Clauses clauses) {
  DependenceBuffer dependences;
  if (flags & kDepend) decode(dependences, clauses.depend);
  Worker* worker = this_worker();
  bool deferred = (flags & kIf) && !in_final(worker);
  if (!deferred && !(flags & kDetach)) {
    return run_undeferred(worker, function, data, copy, bytes, align, flags, dependences, codeptr);
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

// A deferred task without clauses goes a short way, and most undeferred tasks do. Such tasks have no use for the
// clauses. So that the compiler does not load the clauses for them, the function takes the clauses as one structure
// where the psABI passes that like the three arguments: in memory, in their order.
#if defined(__x86_64__)
void GOMP_task(Function function, void* data, CopyFunction copy, long bytes, long align, bool if_clause, unsigned flags,
               Clauses clauses) {
#else
void GOMP_task(Function function, void* data, CopyFunction copy, long bytes, long align, bool if_clause, unsigned flags,
               void** depend, int priority, void* detach) {
  const Clauses clauses = {depend, priority, detach};
#endif
  Worker* worker = this_worker_or_null();
  if (worker != nullptr) [[likely]] {
    const bool plain = if_clause && (flags & (kFinal | kDepend | kPriority | kDetach)) == 0 && copy == nullptr &&
                       static_cast<size_t>(align) <= sizeof(TaskBlock) && is_simple_creator(worker);
    if (plain && no_conditions()) [[likely]] {
      return create_simple(worker, function, data, static_cast<size_t>(bytes), flags, __builtin_return_address(0));
    }
    if (plain && options().simple_creation) {
      return create_with_descriptor(worker, function, data, static_cast<size_t>(bytes), flags,
                                    __builtin_return_address(0));
    }
    const bool undeferred = !if_clause || in_final(worker);
    if (undeferred && (flags & kDetach) == 0 && may_run_in_place(worker, (flags & kDepend) != 0)) {
      if (copy == nullptr) return run_in_place(worker, function, data, flags);
      return run_in_place_copying(worker, function, data, copy, bytes, align, flags);
    }
  }
  task_with_clauses(function, data, copy, bytes, align, __builtin_return_address(0), flags | (if_clause ? kIf : 0),
                    clauses);
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
