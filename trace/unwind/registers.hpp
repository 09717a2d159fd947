// SPDX-License-Identifier: Apache-2.0
//
// The registers that call frame information speaks of, by DWARF's numbers: of x86-64 as in its ABI, figure 3.36, of
// AArch64 as in "DWARF for the Arm 64-bit Architecture", section 4.1.
#ifndef MARLINE_TRACE_UNWIND_REGISTERS_HPP
#define MARLINE_TRACE_UNWIND_REGISTERS_HPP

#include <ucontext.h>

#include "unwind/memory.hpp"

namespace marline::trace {

#if defined(__x86_64__)
constexpr int kRegisters = 17;  // the last one is the return address
constexpr int kStackPointer = 7;
constexpr int kReturnAddress = 16;
#elif defined(__aarch64__)
constexpr int kRegisters = 32;
constexpr int kStackPointer = 31;
constexpr int kReturnAddress = 30;
#endif

struct Registers {
  u64 pc;
  u64 value[kRegisters];
  u64 known;  // a bit for each register

  bool knows(int number) const { return number < kRegisters && (known >> number & 1) != 0; }
  void set(int number, u64 to) {
    value[number] = to;
    known |= u64{1} << number;
  }
  void lose(int number) { known &= ~(u64{1} << number); }
};

// A return address without the signature that some AArch64 processors put into its upper bits (FEAT_PAuth).
inline u64 plain_address(u64 address) {
#if defined(__aarch64__)
  return address & ((u64{1} << 48) - 1);
#else
  return address;
#endif
}

// As a signal has met them.
inline void read_registers(const ucontext_t& context, Registers& to) {
#if defined(__x86_64__)
  static constexpr int kOrder[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
                                   REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  for (int i = 0; i < 16; ++i) to.value[i] = static_cast<u64>(context.uc_mcontext.gregs[kOrder[i]]);
  to.pc = static_cast<u64>(context.uc_mcontext.gregs[REG_RIP]);
  to.known = (u64{1} << kReturnAddress) - 1;
#elif defined(__aarch64__)
  for (int i = 0; i < 31; ++i) to.value[i] = context.uc_mcontext.regs[i];
  to.value[kStackPointer] = context.uc_mcontext.sp;
  to.pc = context.uc_mcontext.pc;
  to.known = (u64{1} << kRegisters) - 1;
#endif
}

}  // namespace marline::trace

#endif
