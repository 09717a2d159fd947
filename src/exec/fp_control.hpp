// SPDX-License-Identifier: Apache-2.0
//
// Floating-point control: rounding, denormals, exception masks. A region's threads start with the creator's, as under
// LLVM's runtime (programs built with -ffast-math set FTZ/DAZ in the initial thread and rely on it); a suspended task finds
// its own again. Reading costs a few cycles, writing tens: it is written only when it differs.
#pragma once

#include <cstdint>

namespace marline {

struct FpControl {
  uint64_t word;

  static FpControl current() {
#if defined(__x86_64__)
    uint32_t mxcsr;
    uint16_t x87;
    asm volatile("stmxcsr %0" : "=m"(mxcsr));
    asm volatile("fnstcw %0" : "=m"(x87));
    // The low six bits of MXCSR are sticky exception flags: state of the thread's past, not control.
    return {(mxcsr & ~uint64_t{0x3f}) | (static_cast<uint64_t>(x87) << 32)};
#elif defined(__aarch64__)
    uint64_t fpcr;
    asm volatile("mrs %0, fpcr" : "=r"(fpcr));
    return {fpcr};
#endif
  }

  // Makes this the thread's, which is known to be `now` at the moment.
  void install(uint64_t now) const {
    if (now == word) return;
#if defined(__x86_64__)
    uint32_t mxcsr = static_cast<uint32_t>(word);
    uint16_t x87 = static_cast<uint16_t>(word >> 32);
    asm volatile("ldmxcsr %0" ::"m"(mxcsr));
    asm volatile("fldcw %0" ::"m"(x87));
#elif defined(__aarch64__)
    asm volatile("msr fpcr, %0" ::"r"(word));
#endif
  }
};

}  // namespace marline
