// SPDX-License-Identifier: Apache-2.0
//
// Telling ThreadSanitizer, AddressSanitizer and Valgrind that a thread changes stacks. Without the sanitizer in this
// build the first two are nothing; a Valgrind request is a handful of rotations that undo each other when the program
// does not run under Valgrind. Called by whoever makes, switches and ends fibers, on the thread that does so.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/build.hpp"

#if MARLINE_TSAN
#include <sanitizer/tsan_interface.h>
#endif
#if MARLINE_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace marline {

// ThreadSanitizer: a fiber has a shadow state of its own. Switch right before the stacks are switched.
#if MARLINE_TSAN
inline void* tsan_current_fiber() { return __tsan_get_current_fiber(); }
inline void* tsan_create_fiber() { return __tsan_create_fiber(0); }
inline void tsan_destroy_fiber(void* fiber) { __tsan_destroy_fiber(fiber); }
// The switch counts as synchronisation: what one fiber did on this thread happened before what the next one does.
inline void tsan_switch_to_fiber(void* fiber) { __tsan_switch_to_fiber(fiber, 0); }
#else
inline void* tsan_current_fiber() { return nullptr; }
inline void* tsan_create_fiber() { return nullptr; }
inline void tsan_destroy_fiber(void*) {}
inline void tsan_switch_to_fiber(void*) {}
#endif

// AddressSanitizer: before the switch, where the old fake stack is kept (null: the old fiber ends) and the new stack's
// bounds; after it, on the new stack, the fake stack that was kept for it, and the bounds of the stack that was left.
#if MARLINE_ASAN
inline void asan_start_switch(void** keep, const void* bottom, size_t size) {
  __sanitizer_start_switch_fiber(keep, bottom, size);
}
inline void asan_finish_switch(void* kept, const void** left_bottom, size_t* left_size) {
  __sanitizer_finish_switch_fiber(kept, left_bottom, left_size);
}
// A stack that is used again: frames that were left by a switch and never returned have left their red zones.
inline void asan_unpoison_stack(const void* bottom, size_t size) { __asan_unpoison_memory_region(bottom, size); }
#else
inline void asan_start_switch(void**, const void*, size_t) {}
inline void asan_finish_switch(void*, const void**, size_t*) {}
inline void asan_unpoison_stack(const void*, size_t) {}
#endif

// Valgrind's client-request calling convention: a block of six words (request, five arguments), an instruction
// sequence that is otherwise a no-op, and the answer in a register. 0 when not under Valgrind. (Facts: the Valgrind
// manual's "client request mechanism"; the sequences are part of its stable interface.)
inline uintptr_t valgrind_request(uintptr_t request, uintptr_t first, uintptr_t second) {
  volatile uintptr_t block[6] = {request, first, second, 0, 0, 0};
#if defined(__x86_64__)
  uintptr_t answer = 0;
  asm volatile(
      "rolq $3, %%rdi; rolq $13, %%rdi; rolq $61, %%rdi; rolq $51, %%rdi\n\t"
      "xchgq %%rbx, %%rbx"
      : "+d"(answer)
      : "a"(&block[0])
      : "cc", "memory");
  return answer;
#elif defined(__aarch64__)
  register uintptr_t answer asm("x3") = 0;
  register volatile uintptr_t* arguments asm("x4") = block;
  asm volatile(
      "ror x12, x12, #3; ror x12, x12, #13; ror x12, x12, #51; ror x12, x12, #61\n\t"
      "orr x10, x10, x10"
      : "+r"(answer)
      : "r"(arguments)
      : "cc", "memory");
  return answer;
#else
  static_cast<void>(block);
  return 0;
#endif
}

// Valgrind: [low, high) is a stack. Returns its number, for valgrind_stack_deregister.
inline unsigned valgrind_stack_register(const void* low, const void* high) {
  return static_cast<unsigned>(
      valgrind_request(0x1501, reinterpret_cast<uintptr_t>(low), reinterpret_cast<uintptr_t>(high)));
}
inline void valgrind_stack_deregister(unsigned number) { valgrind_request(0x1502, number, 0); }

// Whether the program runs under Valgrind.
inline bool under_valgrind() { return valgrind_request(0x1001, 0, 0) != 0; }

}  // namespace marline
