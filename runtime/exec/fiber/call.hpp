// SPDX-License-Identifier: Apache-2.0
//
// Running a new task of the current team on a spare fiber, by a call rather than two switches. The state of the
// creator's fiber is saved before the call, and restored only if the task blocks. A face can call a task that has not
// been counted in its creator: until the task blocks or ends, the creator's frame waits on the same thread, so nobody
// asks for the counts. Then most tasks are never counted. In line, because it is most of what a short task costs. Run
// by the thread that runs the creator.
//
// A called fiber that is idle again keeps what the call has stored (`called`, `caller`, `depth`, `tied_frames`,
// `uncounted`, a stale `sp`), until it is called again or fiber_take clears it.
#pragma once

#include "base/check.hpp"
#include "base/conditions.hpp"
#include "exec/fiber/context.hpp"
#include "exec/fiber/fiber.hpp"

namespace marline {

inline void check_overrun(const Fiber* fiber) {
  if (stack_overrun(fiber->stack)) [[unlikely]] {
    fatal("a task overran its stack of %zu KiB: set OMP_STACKSIZE or MARLINE_STACKSIZE to more",
          fiber->stack.size() / 1024);
  }
}

// After a call that has returned: the fiber on which the task has run.
inline Fiber* last_called(const Worker* worker) { return worker->spares.first; }

// Saves the state of the current fiber, and takes the spare one from the list. It is still counted as idle, until its
// task blocks.
[[gnu::always_inline]] inline Fiber* begin_call(Worker* worker, Fiber* spare) {
  worker->spares.first = spare->next;
  Fiber* self = worker->fiber;
  self->task = worker->task;
  self->member = worker->member;
  self->fp.read();
  self->error_number = *worker->thread.error_number;
  spare->caller = self;
  spare->depth = self->depth + 1;
  spare->called = true;
  worker->fiber = spare;
  return self;
}

// The call has returned.
[[gnu::always_inline]] inline void end_call(Worker* worker, Fiber* spare) {
  Fiber* self = spare->caller;
  worker->fiber = self;
  *worker->thread.error_number = self->error_number;
  spare->next = worker->spares.first;
  worker->spares.first = spare;
}

// The task on the called fiber has blocked, and this thread is on its creator's fiber.
[[gnu::noinline]] void go_on_after_call();

// Makes `task` the current one, and calls function(first, second) on the spare fiber, below `top`, an address on that
// fiber's stack. The task has not been counted in its creator; if it blocks, suspend_task does that. True: the function
// has returned, the thread is the same, and the caller calls return_from_call. False: the task has blocked, and its
// creator goes on; the task is completed where its function returns. `tied`: 1 for a tied task, else 0.
template <class Function>
[[nodiscard, gnu::always_inline]] inline bool call_uncounted(Worker* worker, Fiber* spare, Task* task, uint32_t tied,
                                                             void* top, Function* function, uintptr_t first,
                                                             uintptr_t second) {
  Fiber* self = begin_call(worker, spare);
  spare->uncounted = task;
  spare->tied_frames = static_cast<int>(tied);
  fence_signal();
  worker->task = task;
  if (marline_fiber_call(first, second, &self->sp, top, reinterpret_cast<void (*)()>(function), &spare->called) != 0)
      [[likely]] {
    return true;
  }
  go_on_after_call();
  return false;
}

// Makes the creator the current task again. Returns the task that has run through. Unless ends_simply() is true, the
// caller calls check_overrun and polls.
[[gnu::always_inline]] inline Task* return_from_call(Worker* worker) {
  Fiber* spare = worker->fiber;
  Task* task = spare->uncounted;
  end_call(worker, spare);
  worker->task = task->parent;
  fence_signal();
  return task;
}

[[gnu::always_inline]] inline bool ends_simply() { return no_conditions() && g_light_guards.load(relaxed); }

// Whether nothing must be done around a new task without clauses, in a parallel region, but to call it: on the first
// idle fiber, which the caller has seen to be there.
[[gnu::always_inline]] inline bool may_call_uncounted(const Worker* worker) {
  return !exceptions_in_flight(worker) && (~worker->task->created & worker->throttling.mask) != 0;
}

}  // namespace marline
