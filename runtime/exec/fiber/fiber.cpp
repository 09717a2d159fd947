// SPDX-License-Identifier: Apache-2.0
//
// Fibers: switching between them, the base frame of spare fibers, and the lists of idle fibers. A worker keeps up to
// kKept idle fibers of its own; the stacks of further idle fibers go back to the process's pool.
#include "exec/fiber/fiber.hpp"

#include "base/check.hpp"
#include "base/sanitizer.hpp"
#include "exec/fiber/context.hpp"
#include "exec/worker/completion.hpp"
#include "exec/worker/run_task.hpp"
#include "exec/worker/worker.hpp"
#include "platform/valgrind.hpp"
#include "sched/constraint.hpp"
#include "sched/queue.hpp"

#include <sched.h>

#include <cerrno>
#include <cstdlib>
#include <new>

namespace marline {

namespace {

constexpr int kKept = 64;
constexpr int kKeptIdle = 4;  // while free stacks give their memory back: each kept fiber may keep a slab mapped

// On the arriving side of a switch: the worker takes over what the fiber had saved.
void arrive(Fiber* self) {
  Worker* worker = this_worker();
  if (g_sanitized) [[unlikely]] {
    asan_finish_switch(self->asan_fake_stack);
    if (self->tied_frames > 0) tsan_acquire(worker);
  }
  const bool fresh = self->fresh;
  if (fresh) {  // nothing of its own yet: it goes on with the thread's state, outside of any catch block
    self->fresh = false;
    exception_state_install(worker, {});
    if (self->fp_given) self->fp.install(worker->thread.fp_control);
  } else {
    exception_state_install(worker, self->exceptions);
    self->fp.install(worker->thread.fp_control);
  }
  worker->task = self->task;
  worker->member = self->member;
  fence_signal();  // before the task that was left may be another thread's
  if (auto arrival = self->arrival) {
    self->arrival = nullptr;
    arrival(self->arrival_context);
  }
  if (!fresh) *worker->thread.error_number = self->error_number;  // last: the arrival function may have changed it
}

void save(Worker* worker, Fiber* self) {
  self->task = worker->task;
  self->member = worker->member;
  self->fp.read();
  worker->thread.fp_control = self->fp;
  self->exceptions = exception_state_of(worker);
  self->error_number = *worker->thread.error_number;
}

// Runs a task and its successors. If a fiber waits in place for this one, queues the task instead: that fiber decides
// what runs next.
void run_chain(const Fiber* self, Task* task) {
  while (task != nullptr) {
    if (self->caller != nullptr) {
      enqueue(this_worker(), task);
      return;
    }
    task = run_found(task);
  }
}

// Switches from `self`, after its task has ended, to `target`. `self` becomes spare, and another worker may get its
// stack.
void leave_for_good(Fiber* self, Fiber* target) {
  tsan_release(self->stack.low);
  fiber_switch(target, fiber_release, self);
}

// The rest of a spare fiber's base frame. After each switch back it starts over: with the next task, or as a scheduling
// loop.
[[noreturn]] void serve(Fiber* self) {
  for (;;) {
    // `first` is set if the fiber was released inside the loop and has been taken again since.
    if (Fiber* caller = self->caller; caller != nullptr && self->first == nullptr) {
      self->caller = nullptr;
      leave_for_good(self, caller);
    }
    if (Task* task = self->first) {
      self->first = nullptr;
      run_chain(self, run_found(task));
    } else {
      schedule_on_this_fiber();
    }
  }
}

// The base frame of a spare fiber that is switched to.
void fiber_main(void* argument) {
  auto* self = static_cast<Fiber*>(argument);
  arrive(self);
  serve(self);
}

// The base frame of a spare fiber that run_at_creation enters by a call. Once its task has blocked, the fiber is like
// any other spare fiber: it can no longer return to its caller's frame.
void fiber_called(void* argument) {
  auto* self = static_cast<Fiber*>(argument);
  Task* task = self->first;
  self->first = nullptr;
  Task* next = run_created(this_worker(), task, self);
  if (self->called) [[likely]] {
    if (next != nullptr) enqueue(this_worker(), next);
    return;
  }
  run_chain(self, next);
  serve(self);
}

// Leaves errno alone: the program may create a task between a call that fails and its look at errno.
Fiber* fiber_create(Worker* worker) {
  const int error_number = *worker->thread.error_number;
  exception_state_look_up(worker);
  Stack stack = stack_allocate();
  // Frames that a switch has left for good never returned, so their red zones are still poisoned.
  asan_unpoison(stack.low, stack.size());
  tsan_acquire(stack.low);  // pairs with leave_for_good
  auto* fiber = new (fiber_on_stack(stack)) Fiber;
  fiber->stack = stack;
  fiber->tsan = tsan_create_fiber();
  fiber->valgrind_stack = valgrind_stack_register(stack.low, fiber);
  *worker->thread.error_number = error_number;
  return fiber;
}

void fiber_destroy(Worker* worker, Fiber* fiber) {
  if (fiber->stub != nullptr) SlabPool::release(fiber->stub, worker->pool);
  tsan_destroy_fiber(fiber->tsan);
  valgrind_stack_deregister(fiber->valgrind_stack);
  stack_free(fiber->stack, worker_count() < 2);
}

// For ThreadSanitizer, the actions of a task on a fiber happen after the actions of the previous task there, which
// hides races between the two tasks. So under it the list of idle fibers is a queue, and no fiber is used again before
// the list is long.
bool must_rest(const Worker* worker) { return tsan_present() && worker->spares.count < kKept; }

// Tells sanitizers of the change of stacks, right before it.
[[gnu::always_inline]] inline void announce_switch(Worker* worker, Fiber* self, Fiber* target) {
  if (self->tied_frames > 0) tsan_release(worker);
  tsan_switch_to_fiber(target->tsan);
  asan_start_switch(&self->asan_fake_stack, target->stack.low, target->stack.size());
}

// Takes away what the last call of an idle fiber has left. The call has overwritten the fiber's idle frames.
void clear_call(Fiber* fiber) {
  fiber->called = false;
  fiber->sp = nullptr;
  fiber->caller = nullptr;
  fiber->tied_frames = 0;
  fiber->uncounted = nullptr;
}

Fiber* detach_fiber(Member* member, Task* task) {
  Fiber* target = task->fiber;
  task->fiber = nullptr;
  target->member = member;
  return target;
}

// The creator continues with its own code, so the thread has work again and no longer counts as awake without work
// (polls_in_turn).
void end_round() {
  Atomic<uint32_t>& polls_in_turn = this_worker()->nesting.polls_in_turn;
  if (polls_in_turn.load(relaxed) != 0) polls_in_turn.store(0, relaxed);
}

// The calling thread's stack. For a thread of the runtime, its creator stores the bounds right after it has started the
// thread, so the thread waits for them.
Stack own_stack(Worker* worker) {
  ThreadBeginning& beginning = worker->thread.beginning;
  while (!worker->root && !beginning.stack_known.load(acquire)) sched_yield();  // pairs with start_thread
  if (worker->root || beginning.stack_low == nullptr) return stack_of_thread(pthread_self());
  return {beginning.stack_low, beginning.stack_high};
}

}  // namespace

// Where the function returns that call_uncounted has called, if its task has blocked before. On the task's own fiber.
extern "C" [[noreturn, gnu::used, gnu::visibility("hidden")]] void marline_uncounted_ended() {
  Worker* worker = this_worker();
  Fiber* self = worker->fiber;
  run_chain(self, complete_called(worker, worker->task, self));
  serve(self);
}

Fiber* fiber_for_thread(Worker* worker) {
  void* memory = worker->pool->allocate(sizeof(Fiber));
  auto* fiber = new (memory) Fiber;
  fiber->stack = own_stack(worker);
  fiber->tsan = tsan_current_fiber();
  return fiber;
}

Fiber* fiber_over_stack(Worker* worker, const Stack& stack) {
  void* memory = worker->shown_state.own_fiber;
  if (memory == nullptr) memory = worker->pool->allocate(sizeof(Fiber));
  auto* fiber = new (memory) Fiber;
  fiber->stack = stack.low != nullptr ? stack : stack_of_thread(pthread_self());
  fiber->tsan = tsan_current_fiber();
  return worker->shown_state.own_fiber = fiber;
}

Fiber* fiber_take(Worker* worker) {
  Fiber* fiber = worker->spares.first;
  if (fiber == nullptr || must_rest(worker)) {
    fiber = fiber_create(worker);
  } else {
    worker->spares.first = fiber->next;
    --worker->spares.count;
  }
  if (fiber->called) clear_call(fiber);
  if (fiber->sp == nullptr) fiber->sp = make_context(fiber, fiber_main, fiber);
  fiber->fresh = true;
  fiber->fp_given = false;
  fiber->depth = 0;
  fiber->task = nullptr;
  fiber->member = worker->member;
  return fiber;
}

void fiber_release(void* context) {
  auto* fiber = static_cast<Fiber*>(context);
  Worker* worker = this_worker();
  check_overrun(fiber);
  if (worker->spares.count >= kKept) {
    fiber_destroy(worker, fiber);
    return;
  }
  Fiber** place = &worker->spares.first;
  if (tsan_present()) [[unlikely]] {
    while (*place != nullptr) place = &(*place)->next;
  }
  fiber->next = *place;
  *place = fiber;
  ++worker->spares.count;
}

bool fibers_shrink(Worker* worker) {
  if (!stacks_can_shrink()) return false;
  // A fiber that has been called (fiber.hpp, Calls) is counted, too, but is not in the list.
  while (worker->spares.count > kKeptIdle && worker->spares.first != nullptr) {
    Fiber* fiber = worker->spares.first;
    worker->spares.first = fiber->next;
    --worker->spares.count;
    fiber_destroy(worker, fiber);
  }
  return stacks_shrink();
}

void fiber_switch(Fiber* target, void (*arrival)(void*), void* context) {
  Worker* worker = this_worker();
  Fiber* self = worker->fiber;
  LeftFrames left(worker, self->tied_frames);
  save(worker, self);
  target->arrival = arrival;
  target->arrival_context = context;
  worker->fiber = target;
  if (g_sanitized) [[unlikely]]
    announce_switch(worker, self, target);
  marline_switch(&self->sp, target->sp);
  arrive(self);
}

void run_on_spare(Worker* worker, Member* member, Task* task) {
  Fiber* spare = fiber_take(worker);
  spare->member = member;
  spare->first = task;
  spare->caller = worker->fiber;
  spare->depth = worker->fiber->depth + 1;
  fiber_switch(spare, nullptr, nullptr);
}

void go_on_after_call() {
  Worker* worker = this_worker();
  Fiber* self = worker->fiber;
  --worker->spares.count;
  self->exceptions = {};  // there were none: may_call
  arrive(self);
  end_round();
}

namespace {

// Sanitizers must be told of each change of stacks, and a task that is created in a catch block starts outside of it:
// both need a switch.
bool may_call(const Worker* worker) {
  return worker->spares.first != nullptr && !g_sanitized && !exceptions_in_flight(worker);
}

}  // namespace

void run_at_creation(Worker* worker, Task* task) {
  if (!may_call(worker)) [[unlikely]] {
    run_on_spare(worker, worker->member, task);
    end_round();
    return;
  }
  Fiber* spare = worker->spares.first;
  Fiber* self = begin_call(worker, spare);
  spare->uncounted = nullptr;
  spare->tied_frames = 0;
  spare->first = task;
  auto function = reinterpret_cast<void (*)()>(fiber_called);
  if (marline_fiber_call(reinterpret_cast<uintptr_t>(spare), 0, &self->sp, spare, function, &spare->called) == 0) {
    return go_on_after_call();
  }
  end_call(worker, spare);
  check_overrun(spare);
}

void run_over_frame(Worker* worker, Member* member, Task* task) {
  if (task->fiber == nullptr) return run_on_spare(worker, member, task);
  flush_reports(worker);
  Fiber* target = detach_fiber(member, task);
  Fiber* self = worker->fiber;
  target->caller = self;
  target->depth = self->depth + 1;
  fiber_switch(target, nullptr, nullptr);
}

void resume_and_release(Member* member, Task* task) {
  flush_reports(this_worker());
  leave_for_good(this_worker()->fiber, detach_fiber(member, task));
}

Fiber* fiber_on_stack(const Stack& stack) {
  return reinterpret_cast<Fiber*>((reinterpret_cast<uintptr_t>(stack.high) - sizeof(Fiber)) & ~uintptr_t{63});
}

size_t stack_left(const Fiber* fiber) {
  return static_cast<size_t>(static_cast<char*>(__builtin_frame_address(0)) - fiber->stack.low);
}

}  // namespace marline
