/* SPDX-License-Identifier: Apache-2.0
 *
 * A thread that has left a cancelled region is missing in the constructs that the others still go through on their way
 * to a cancellation point (OpenMP 5.2, section 1.3: all threads encounter a worksharing region or none, unless
 * cancellation has been requested). No thread waits for it: not at the end of the region, not where loops are far ahead
 * of it, not for its turn in an ordered loop. Another thread runs the single construct that would have been its own.
 *
 * Covers: cancel(parallel, taskgroup), for(nowait), ordered, single(copyprivate)
 */
#include "../check.h"
#include <omp.h>

enum { kRounds = 300 };

static int on, threads;

/* No cancellation point but the region's end. */
static void nothing_more(int round) {
  int after = 0;
#pragma omp parallel num_threads(threads)
  {
    if (omp_get_thread_num() == round % threads) {
#pragma omp cancel parallel
    }
#pragma omp atomic
    after++;
  }
  CHECK_EQ(after, on ? threads - 1 : threads);
}

static void loops_ahead(int round) {
  enum { kLoops = 20 };
  int done = 0;
#pragma omp parallel num_threads(threads)
  {
    if (omp_get_thread_num() == round % threads) {
#pragma omp cancel parallel
    }
    for (int k = 0; k < kLoops; k++) {
#pragma omp for schedule(dynamic) nowait
      for (int i = 0; i < threads; i++) {
#pragma omp atomic
        done++;
      }
    }
  }
  CHECK_RANGE(done, on ? 0 : kLoops * threads, kLoops * threads);
}

#define ORDERED(NAME, SCHEDULE)                        \
  static void NAME(int round) {                        \
    int last = -1, inside = 0, done = 0;               \
    _Pragma("omp parallel num_threads(threads)") {     \
      if (omp_get_thread_num() == round % threads) {   \
        _Pragma("omp cancel parallel")                 \
      }                                                \
      _Pragma(SCHEDULE) for (int i = 0; i < 40; i++) { \
        _Pragma("omp ordered") {                       \
          CHECK_EQ(++inside, 1);                       \
          CHECK(i > last);                             \
          last = i;                                    \
          done++;                                      \
          inside--;                                    \
        }                                              \
      }                                                \
    }                                                  \
    CHECK_RANGE(done, on ? 0 : 40, 40);                \
  }

ORDERED(ordered_blocks, "omp for ordered schedule(static)")
ORDERED(ordered_chunks, "omp for ordered schedule(static, 3)")
ORDERED(ordered_dynamic, "omp for ordered schedule(dynamic, 2)")

static void copyprivate(int round) {
  int after = 0;
#pragma omp parallel num_threads(threads)
  {
    int value = -1;
    if (omp_get_thread_num() == round % threads) {
#pragma omp cancel parallel
    }
#pragma omp single copyprivate(value)
    value = round;
    CHECK_EQ(value, round);
#pragma omp atomic
    after++;
  }
  if (!on) CHECK_EQ(after, threads);
}

/* What a task waits for before it starts is not fulfilled any more. */
static void detached(void) {
  omp_event_handle_t event = (omp_event_handle_t)0;
  int chain = 0, ran = 0;
  if (!on) return;
#pragma omp parallel num_threads(threads)
#pragma omp single
#pragma omp taskgroup
  {
#pragma omp task depend(inout : chain)
    {
#pragma omp cancel taskgroup
    }
#pragma omp task depend(inout : chain) detach(event) shared(ran)
    ran++;
  }
  CHECK_EQ(ran, 0);
}

int main(void) {
  on = omp_get_cancellation();
  threads = omp_get_max_threads();
  for (int round = 0; round < kRounds; round++) {
    nothing_more(round);
    loops_ahead(round);
    ordered_blocks(round);
    ordered_chunks(round);
    ordered_dynamic(round);
    copyprivate(round);
    detached();
  }
  return 0;
}
