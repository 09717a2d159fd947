/* SPDX-License-Identifier: Apache-2.0
 *
 * Floating-point control (rounding mode, and flush-to-zero where the processor has it) as under libomp: a team inherits
 * what its creator has set before the region, tasks run with it, and what one task sets for itself stays its own
 * through suspensions.
 *
 * Covers: marline suspension, parallel
 */
#include "rendezvous.h"
#include <fenv.h>
#include <omp.h>
#include <stdint.h>
#if defined __SSE__
#include <xmmintrin.h>
#endif

enum { kTasks = 24 };
#if defined __aarch64__
static const uint64_t kFlushToZero = 1 << 24; /* FPCR.FZ, for inputs and results */
#endif

static Rendezvous meetings;

static unsigned flush_bits(void) {
#if defined __SSE__
  return _mm_getcsr() & 0x8040; /* FTZ, DAZ */
#elif defined __aarch64__
  uint64_t fpcr;
  __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
  return (fpcr & kFlushToZero) != 0 ? 0x8040 : 0;
#else
  return 0;
#endif
}

static void set_flush_bits(unsigned bits) {
#if defined __SSE__
  _mm_setcsr((_mm_getcsr() & ~0x8040u) | bits);
#elif defined __aarch64__
  uint64_t fpcr;
  __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
  fpcr = bits != 0 ? fpcr | kFlushToZero : fpcr & ~kFlushToZero;
  __asm__ volatile("msr fpcr, %0" : : "r"(fpcr));
#else
  (void)bits;
#endif
}

static void team_inherits(int rounding, unsigned flush) {
  CHECK_EQ(fesetround(rounding), 0);
  set_flush_bits(flush);
  flush = flush_bits();
#pragma omp parallel firstprivate(rounding, flush)
  {
    CHECK_EQ(fegetround(), rounding);
    CHECK_EQ(flush_bits(), flush);
#pragma omp single
    for (int t = 0; t < 50; t++) {
#pragma omp task firstprivate(rounding, flush)
      {
        CHECK_EQ(fegetround(), rounding);
        CHECK_EQ(flush_bits(), flush);
      }
    }
  }
  CHECK_EQ(fegetround(), rounding);
  fesetround(FE_TONEAREST);
  set_flush_bits(0);
}

static void private_to_a_task(void) {
  static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  rendezvous_init(&meetings, kTasks);
#pragma omp parallel
#pragma omp single
  for (int self = 0; self < kTasks; self++) {
#pragma omp task firstprivate(self)
    {
      CHECK_EQ(fegetround(), FE_TONEAREST);
      fesetround(modes[self % 4]);
      volatile double one = 1, three = 3;
      double third = one / three;
      for (int meeting = 0; meeting < 3; meeting++) {
        rendezvous_meet(&meetings, meeting, self);
        CHECK_EQ(fegetround(), modes[self % 4]);
        CHECK(one / three == third);
      }
      fesetround(FE_TONEAREST);
    }
  }
  CHECK_EQ(fegetround(), FE_TONEAREST);
}

/* A task suspended with the default mode must not come back with the mode of the task that its thread ran meanwhile. */
static void no_leak_into_suspended_tasks(void) {
  rendezvous_init(&meetings, 2);
#pragma omp parallel
#pragma omp single
  {
#pragma omp task
    {
      rendezvous_meet(&meetings, 0, 0);
      CHECK_EQ(fegetround(), FE_TONEAREST);
    }
#pragma omp task
    {
      fesetround(FE_UPWARD);
      rendezvous_meet(&meetings, 0, 1);
      CHECK_EQ(fegetround(), FE_UPWARD);
      fesetround(FE_TONEAREST);
    }
  }
}

int main(void) {
  for (int round = 0; round < 10; round++) {
    team_inherits(FE_UPWARD, 0);
    team_inherits(FE_TONEAREST, 0x8040);
    team_inherits(FE_TOWARDZERO, 0x8000);
    team_inherits(FE_TONEAREST, 0);
    private_to_a_task();
    no_leak_into_suspended_tasks();
  }
  return 0;
}
