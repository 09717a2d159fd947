// SPDX-License-Identifier: Apache-2.0
//
// The one thread-local variable of the runtime, and the only way to it. After any switch a fiber may continue on
// another thread, but compilers may keep the *address* of a thread-local variable across a call. So the access is
// assembly that the compiler can neither merge with another access nor move across a call: two instructions, in the
// initial-exec model (the library is loaded with the program, or takes eight bytes of the loader's reserve).
#pragma once

namespace marline {

struct Worker;

// The calling thread's worker, or null if the runtime does not know the thread. Never keep the result across a point
// where the current task may suspend: call this again.
inline Worker* this_worker_or_null() {
  Worker* worker;
#if defined(__x86_64__)
  asm volatile("movq marline_this_worker@gottpoff(%%rip), %0\n\tmovq %%fs:(%0), %0" : "=r"(worker) : : "memory");
#elif defined(__aarch64__)
  void* offset;
  asm volatile(
      "adrp %1, :gottprel:marline_this_worker\n\tldr %1, [%1, #:gottprel_lo12:marline_this_worker]\n\t"
      "mrs %0, tpidr_el0\n\tldr %0, [%0, %1]"
      : "=&r"(worker), "=&r"(offset)
      :
      : "memory");
#else
#error "no access to thread-local storage for this architecture: add it here"
#endif
  return worker;
}

void set_this_worker(Worker* worker);

// For a thread that the runtime does not know: makes it a root worker (exec/worker/runtime.cpp).
Worker* register_root_worker();

inline Worker* this_worker() {
  Worker* worker = this_worker_or_null();
  return worker != nullptr ? worker : register_root_worker();
}

}  // namespace marline
