/* SPDX-License-Identifier: Apache-2.0
 *
 * ordered regions run in iteration order under every schedule, also when some iterations do not execute theirs.
 *
 * Covers: for(schedule:static/dynamic/guided/runtime, ordered), ordered
 */
#include "../check.h"
#include <omp.h>

enum { kTrip = 200 };

static int next;

static void in_turn(int i, int stride) {
  CHECK_EQ(next, i);
  next = i + stride;
}

#define ORDERED_LOOP(pragma)                                                                   \
  do {                                                                                         \
    next = 0;                                                                                  \
    int outside = 0;                                                                           \
    _Pragma("omp parallel shared(outside)") _Pragma(#pragma) for (int i = 0; i < kTrip; i++) { \
      _Pragma("omp atomic") outside++;                                                         \
      _Pragma("omp ordered") in_turn(i, 1);                                                    \
    }                                                                                          \
    CHECK_EQ(next, kTrip);                                                                     \
    CHECK_EQ(outside, kTrip);                                                                  \
    next = 0;                                                                                  \
    _Pragma("omp parallel") _Pragma(#pragma) for (int i = 0; i < kTrip; i++) if (i % 3 == 0) { \
      _Pragma("omp ordered") in_turn(i, 3);                                                    \
    }                                                                                          \
    CHECK_EQ(next, (kTrip + 2) / 3 * 3);                                                       \
  } while (0)

int main(void) {
  for (int round = 0; round < 5; round++) {
    ORDERED_LOOP(omp for ordered);
    ORDERED_LOOP(omp for ordered schedule(static));
    ORDERED_LOOP(omp for ordered schedule(static, 1));
    ORDERED_LOOP(omp for ordered schedule(static, 7));
    ORDERED_LOOP(omp for ordered schedule(dynamic));
    ORDERED_LOOP(omp for ordered schedule(dynamic, 3));
    ORDERED_LOOP(omp for ordered schedule(guided));
    ORDERED_LOOP(omp for ordered schedule(runtime));
  }
  return 0;
}
