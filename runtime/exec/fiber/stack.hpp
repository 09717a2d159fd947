// SPDX-License-Identifier: Apache-2.0
//
// Stacks for fibers: cut from slabs of up to kStacksPerSlab, one mapping each, because 10^5 suspended tasks with a
// mapping and a guard of their own would exceed the kernel's default of 65,530 mappings (vm.max_map_count). Memory is
// committed lazily and kept out of transparent huge pages, which would commit 2 MiB at the first touch. Each stack has
// a guard below it: a lightweight one if the kernel has them (MADV_GUARD_INSTALL, Linux 6.13: no mapping is split),
// otherwise a page without access, up to a limited number of mappings, and after that a canary that is checked when the
// fiber is left. Under a limit on address space slabs are smaller, and smaller still when it runs out. Memory of unused
// stacks goes back to the system when a thread falls asleep.
#pragma once

#include "base/atomic.hpp"
#include "base/spin_lock.hpp"

#include <pthread.h>

#include <cstddef>
#include <cstdint>

namespace marline {

struct Stack {
  char* low;   // lowest usable byte
  char* high;  // one past the highest
  static constexpr size_t kOfThread = ~size_t{0};
  size_t number = kOfThread;  // set by stack_allocate
  size_t size() const { return static_cast<size_t>(high - low); }
};

// A stack of options().fiber_stacksize bytes, or a smaller one where there is no address space for it. Fatal when
// memory or mappings run out, or above MARLINE_MAX_FIBERS. Thread-safe.
Stack stack_allocate();

// Gives a stack back for reuse. Thread-safe. alone: the runtime has one thread, which may never be without work and so
// never call stacks_shrink(). Then the memory of an unused slab goes back at once if there are many such slabs.
void stack_free(Stack stack, bool alone);

// For a worker that has no work: gives memory of free stacks back, a slab's at a time. False: little is left.
// Thread-safe.
bool stacks_shrink();
bool stacks_can_shrink();  // a hint

extern SpinLock g_stacks_lock;  // held across fork

// Whether all guards so far are lightweight: no stack has a canary. Cleared for good, by the thread that holds the
// stack, before a stack gets a canary. Relaxed: when the stack is passed to another thread, that synchronization also
// orders this store.
extern Atomic<bool> g_light_guards;

// Whether a canary was overwritten.
bool canary_is_gone(const Stack& stack);

// Whether a stack without a guard has been overrun; false for one with a guard (the fault has been reported then).
inline bool stack_overrun(const Stack& stack) { return !g_light_guards.load(relaxed) && canary_is_gone(stack); }

// If `address` lies in a guard: the stack that it guards, for the fault handler. Async-signal-safe.
bool stack_of_guard(const void* address, Stack* stack);

// All mapped stacks have numbers below stack_numbers(). stack_number returns false if the stack is not mapped. The
// memory of a stack that has never been used is zero.
size_t stack_numbers();
bool stack_number(size_t number, Stack* stack);

// A thread's own stack. The thread must be alive. Allocates with malloc.
Stack stack_of_thread(pthread_t thread);

// Whether it is the stack that the kernel gave the process, whose size `ulimit -s` sets. Async-signal-safe.
bool stack_is_first(const Stack& stack);

// Installs the handler that turns a stack overflow into one line that names the task, unless the program has a SIGSEGV
// handler of its own; and the alternate stack that the handler needs, for the calling thread. Every worker calls it.
// Returns that stack, or null if the thread has one of its own.
void* stack_watch_overflow();

// Gives the calling thread's alternate stack back, before the thread ends.
void stack_unwatch_overflow(void* alternate);

}  // namespace marline
