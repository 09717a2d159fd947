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
  bool called = false;      // entered by a call (exec/fiber/call.hpp), which can return; until the task blocks
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
// (exec/fiber/call.hpp). Where the task scheduling constraint is strict, the caller of this function records the frames
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

}  // namespace marline
