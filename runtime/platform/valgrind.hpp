// SPDX-License-Identifier: Apache-2.0
//
// Tells Valgrind about stacks. A request is a few rotate instructions, which have no effect together when the program
// does not run under Valgrind. Called by the thread that makes or ends a fiber.
#pragma once

#include <cstdint>

namespace marline {

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

// Tells Valgrind that [low, high) is a stack. Returns its number, for valgrind_stack_deregister.
inline unsigned valgrind_stack_register(const void* low, const void* high) {
  return static_cast<unsigned>(
      valgrind_request(0x1501, reinterpret_cast<uintptr_t>(low), reinterpret_cast<uintptr_t>(high)));
}
inline void valgrind_stack_deregister(unsigned number) { valgrind_request(0x1502, number, 0); }

// Whether the program runs under Valgrind.
inline bool under_valgrind() { return valgrind_request(0x1001, 0, 0) != 0; }

}  // namespace marline
