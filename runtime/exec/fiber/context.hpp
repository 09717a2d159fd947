// SPDX-License-Identifier: Apache-2.0
//
// Saved contexts: a stack pointer, with the callee-saved registers on the stack at it. The switch itself is assembly,
// one file per architecture (context_*.S); here is the first frame of a new stack.
#pragma once

#include <cstdint>
#include <cstring>

extern "C" {
// Saves the context in *save_sp and goes on with the one at load_sp. Returns 0.
int marline_switch(void** save_sp, void* load_sp);

// Saves the context in *save_sp and calls function(first, second) on the stack that ends at `top`, a multiple of 16.
// When the function has returned: returns 1 if *called is still true, else calls marline_uncounted_ended on that stack.
// Returns 0 when another fiber has switched to the saved context; *called must be false before that.
int marline_fiber_call(uintptr_t first, uintptr_t second, void** save_sp, void* top, void (*function)(),
                       const bool* called);
void marline_fiber_start();
}

namespace marline {

// Lays a context on the stack that ends at `top` (exclusive) whose first switch calls entry(argument); returns its
// stack pointer. The order of the words is that of the pops in context_*.S.
inline void* make_context(void* top, void (*entry)(void*), void* argument) {
#if defined(__x86_64__)
  constexpr int kWords = 9, kArgument = 4, kEntry = 3, kReturn = 6;  // r15 r14 r13 r12 rbx rbp, return address, 2 pad
#elif defined(__aarch64__)
  constexpr int kWords = 20, kArgument = 2, kEntry = 3, kReturn = 1;  // x29 x30 x19 x20 ...
#else
#error "no context switch for this architecture: add context_*.S and its first frame here"
#endif
  auto* words = reinterpret_cast<uintptr_t*>(reinterpret_cast<uintptr_t>(top) & ~uintptr_t{15}) - kWords;
  std::memset(words, 0, kWords * sizeof *words);
  words[kArgument] = reinterpret_cast<uintptr_t>(argument);
  words[kEntry] = reinterpret_cast<uintptr_t>(entry);
  words[kReturn] = reinterpret_cast<uintptr_t>(&marline_fiber_start);
  return words;
}

}  // namespace marline
