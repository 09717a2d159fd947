// SPDX-License-Identifier: Apache-2.0
//
// Fiber: a stack and a saved context. A worker is always on exactly one; a fiber is on at most one worker. A fiber
// either
//   - belongs to a thread (its own stack), or
//   - is spare: its base frame runs one task for a `caller` fiber (run_on_spare, run_at_creation), or the scheduling
//     loop.
// A task is a plain call on the fiber that runs it. When the task blocks, the fiber stays with the task, and the worker
// continues on the fiber's caller, or on a spare fiber: exec/worker/suspend.cpp.
//
// Invariant: a task runs on top of a waiting frame only if this frame cannot resume before the task ends anyway. All
// other tasks start on a spare fiber, so a task that blocks delays only tasks that wait for it.
#pragma once

#include "base/check.hpp"
#include "base/conditions.hpp"
#include "exec/fiber/context.hpp"
#include "exec/fiber/exception_state.hpp"
#include "exec/fiber/stack.hpp"
#include "sched/team.hpp"
#include "task/waiting.hpp"

namespace marline {

struct Piece;

struct Fiber {
  void* sp = nullptr;  // saved context while no thread runs the fiber; null: idle, starts from the top of the stack
  Stack stack{};
  Fiber* caller = nullptr;  // the fiber that waits, in place, for this one's task to end or block
  Fiber* next = nullptr;    // link in the lists of spare fibers
  Task* first = nullptr;    // spare: the task to run first
  int tied_frames = 0;      // tied tasks with a frame here: while there are any, the fiber stays on its worker
  int depth = 0;            // callers that wait, one on another
  bool fp_given = false;    // if fresh: starts with `fp` instead of the thread's FP control
  bool fresh = false;       // taken from the idle fibers and not entered since
  bool called = false;  // entered by a call (call_uncounted, run_at_creation), which can return; until the task blocks
  // Saved while the fiber is not running. `task` and `member` are apart here. They are neighbours in Worker, so if they
  // were neighbours here, too, one load would copy both; that load would stall on the narrower store that has just set
  // the current task.
  Task* task = nullptr;
  FpControl fp{};
  Member* member = nullptr;
  ExceptionState exceptions{};
  int error_number = 0;
  // With `called`: the task that call_uncounted has called here, which its creator has not counted yet.
  Task* uncounted = nullptr;
  // Of taskloops, with a chunk that has a frame here (exec/worker/pieces.hpp); the newest first.
  Piece* pieces = nullptr;
  const WaitReason* waits_for = nullptr;  // while `task` is suspended here: on this stack
  // Set by the fiber that switches here: a function to run on this fiber, when the context of the other fiber is saved.
  void (*arrival)(void*) = nullptr;
  void* arrival_context = nullptr;
  // Sanitizers.
  void* tsan = nullptr;
  void* asan_fake_stack = nullptr;
  unsigned valgrind_stack = 0;
  // A descriptor for uncounted tasks of GCC's code (abi/gomp/simple_task.hpp), or null. It is the fiber's own unless
  // its task blocks, or the descriptor outlives its task.
  Task* stub = nullptr;
};

// The fiber of the calling thread's own stack.
Fiber* fiber_for_thread(Worker* worker);

// The same for a thread that is already on the stack of some fiber. An empty `stack` stands for the thread's own. The
// worker keeps the fiber.
Fiber* fiber_over_stack(Worker* worker, const Stack& stack);

// An idle fiber, from the worker's own list or new.
Fiber* fiber_take(Worker* worker);

// Makes a fiber idle after its task has ended. The calling thread must not be on it. An arrival function
// (fiber_switch), with the Fiber as its context.
void fiber_release(void* fiber);

// For a worker that is about to sleep: gives back memory of idle fibers, a part at a time. False: little is left.
bool fibers_shrink(Worker* worker);

// Leaves the current fiber for `target`; `arrival(context)` runs there first. Returns when another fiber switches back,
// maybe on another worker.
void fiber_switch(Fiber* target, void (*arrival)(void*), void* context);

// Runs `task` on a spare fiber; returns when it has ended or blocked.
void run_on_spare(Worker* worker, Member* member, Task* task);

// The same for a new task of the current team, created by the current task: mostly by a call rather than two switches
// (see below). Where the task scheduling constraint is strict, the caller of this function records the frames
// that are left (sched/constraint.hpp); fiber_switch does so for the functions that switch.
void run_at_creation(Worker* worker, Task* task);

// For a caller that waits in place: starts the ready task on a spare fiber, or goes on with it if it was suspended, and
// comes back when it has ended or blocked.
void run_over_frame(Worker* worker, Member* member, Task* task);

// Goes on with a suspended task; the current fiber, which has no task, becomes spare.
void resume_and_release(Member* member, Task* task);

// Where the fiber of a stack from the pool lies: at its top.
Fiber* fiber_on_stack(const Stack& stack);

// Bytes of stack left on the current fiber.
size_t stack_left(const Fiber* fiber);

// ---- Calls ----
//
// Running a new task of the current team on a spare fiber, by a call rather than two switches. The state of the
// creator's fiber is saved before the call, and restored only if the task blocks. A face can call a task that has not
// been counted in its creator: until the task blocks or ends, the creator's frame waits on the same thread, so nobody
// asks for the counts. Then most tasks are never counted. In line, because it is most of what a short task costs. Run
// by the thread that runs the creator.
//
// A called fiber that is idle again keeps what the call has stored (`called`, `caller`, `depth`, `tied_frames`,
// `uncounted`, a stale `sp`), until it is called again or fiber_take clears it.

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
