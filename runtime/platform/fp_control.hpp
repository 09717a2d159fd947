// SPDX-License-Identifier: Apache-2.0
//
// Floating-point control: rounding, denormals, exception masks. A region's threads start with the creator's settings,
// as with LLVM's runtime (programs built with -ffast-math set FTZ/DAZ in the initial thread and rely on it); a
// suspended task gets its own settings back when it is resumed. Reading the register takes about a nanosecond if no
// instruction waits for the result. Writing takes tens of nanoseconds, so it is written only if the value differs.
#pragma once

#include <cstdint>

namespace marline {

struct FpControl {
#if defined(__x86_64__)
  uint32_t mxcsr = 0;
  uint16_t x87 = 0;
#elif defined(__aarch64__)
  uint64_t fpcr = 0;
#endif

  // Reads the calling thread's settings.
  void read() {
#if defined(__x86_64__)
    asm volatile("stmxcsr %0" : "=m"(mxcsr));
    asm volatile("fnstcw %0" : "=m"(x87));
#elif defined(__aarch64__)
    asm volatile("mrs %0, fpcr" : "=r"(fpcr));
#endif
  }

  static FpControl current() {
    FpControl control;
    control.read();
    return control;
  }

  // Makes these settings the thread's, which has the settings `now` at the moment.
  void install(const FpControl& now) const {
#if defined(__x86_64__)
    // The low six bits of MXCSR are sticky exception flags: a record of past exceptions, not control.
    constexpr uint32_t kFlags = 0x3f;
    if (((mxcsr ^ now.mxcsr) & ~kFlags) == 0 && x87 == now.x87) return;
    uint32_t control = mxcsr & ~kFlags;
    asm volatile("ldmxcsr %0" ::"m"(control));
    asm volatile("fldcw %0" ::"m"(x87));
#elif defined(__aarch64__)
    if (fpcr == now.fpcr) return;
    asm volatile("msr fpcr, %0" ::"r"(fpcr));
#endif
  }
};

}  // namespace marline
