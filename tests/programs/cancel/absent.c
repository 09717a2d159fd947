/* SPDX-License-Identifier: Apache-2.0
 *
 * Waits within worksharing constructs for threads that a cancelled region will not see there: for a turn, for an
 * iteration of a doacross loop, for loops far back in the sequence. A waiting thread must be notified of the
 * cancellation, also if it waits already; a wait that does not end is a timeout. The rounds between are ordinary
 * regions.
 *
 * Covers: cancel(parallel), ordered(depend:source/sink), for(ordered, nowait), single(copyprivate)
 */
#include "../check.h"
#include <omp.h>
#include <sched.h>

enum { kRounds = 25, kLine = 64, kLoops = 24 };

static int on, threads;

/* Late: mostly the others wait by then. */
static void leave_late(int round) {
  if (round % 3 == 0) usleep(200);
}

/* If the schedule fixes which thread has which iterations, no thread runs the iterations of the thread that leaves. */
#define DOACROSS(NAME, SCHEDULE)                                            \
  static void NAME(int round) {                                             \
    int line[kLine] = {0}, done = 0;                                        \
    _Pragma("omp parallel num_threads(threads) shared(line)") {             \
      if (omp_get_thread_num() == round % threads) {                        \
        leave_late(round);                                                  \
        _Pragma("omp cancel parallel")                                      \
      }                                                                     \
      _Pragma(SCHEDULE) for (int i = 0; i < kLine; i++) {                   \
        _Pragma("omp ordered depend(sink : i - 1)") int before;             \
        _Pragma("omp atomic read") before = line[i > 0 ? i - 1 : 0];        \
        if (!on && i > 0) CHECK_EQ(before, i);                              \
        _Pragma("omp atomic write") line[i] = i + 1;                        \
        _Pragma("omp ordered depend(source)") _Pragma("omp atomic") done++; \
      }                                                                     \
    }                                                                       \
    CHECK_RANGE(done, on ? 0 : kLine, kLine);                               \
    CHECK(line[0] == 0 || line[0] == 1);                                    \
  }

DOACROSS(doacross_blocks, "omp for ordered(1) schedule(static)")
DOACROSS(doacross_chunks, "omp for ordered(1) schedule(static, 2)")
DOACROSS(doacross_dynamic, "omp for ordered(1) schedule(dynamic)")

/* More nests than a runtime may keep at a time; the last thread is slow, the one before it leaves on the way. */
static void nests_ahead(int round) {
  static int line[kLoops][kLine];
#pragma omp parallel num_threads(threads)
  for (int k = 0; k < kLoops; k++) {
    if (k == 5 && omp_get_thread_num() == threads / 2) {
#pragma omp cancel parallel
    }
    if (k == round % 3 && omp_get_thread_num() == threads - 1) usleep(300);
#pragma omp for ordered(1) schedule(static, 1) nowait
    for (int i = 0; i < threads; i++) {
#pragma omp ordered depend(sink : i - 1)
#pragma omp atomic write
      line[k][i] = i;
#pragma omp ordered depend(source)
    }
  }
  CHECK_RANGE(line[0][threads - 1], 0, threads - 1);
}

/* The first thread is far ahead and finds no room for its next loop; by the time that there is room, it has gone on. */
static void turns_ahead(int round) {
  int done[kLoops] = {0}, inside = 0;
#pragma omp parallel num_threads(threads)
  for (int k = 0; k < kLoops; k++) {
    if (k == 5 && omp_get_thread_num() == threads / 2) {
#pragma omp cancel parallel
    }
    if (k == 0 && omp_get_thread_num() == threads - 1) usleep(1000 * (round % 3));
#pragma omp for ordered schedule(static, 1) nowait
    for (int i = 0; i < 2 * threads; i++) {
#pragma omp ordered
      {
#pragma omp atomic
        done[k]++;
        if (k == kLoops - 1) {
          CHECK_EQ(++inside, 1);
          inside--;
        }
      }
    }
  }
  for (int k = 0; k < kLoops; k++) CHECK_RANGE(done[k], on ? 0 : 2 * threads, 2 * threads);
}

/* Singles in a row: what one says must not be taken for what the last one has said, nor vanish while others read. */
static void said_in_turn(int round) {
  enum { kSingles = 4, kValues = 64 };
  int after = 0;
#pragma omp parallel num_threads(threads)
  {
    struct {
      int number[kValues];
    } said;
    if (omp_get_thread_num() == round % threads) {
      leave_late(round);
#pragma omp cancel parallel
    }
    for (int k = 0; k < kSingles; k++) {
#pragma omp single copyprivate(said)
      for (int i = 0; i < kValues; i++) said.number[i] = kSingles * round + k;
      for (int i = 0; i < kValues; i++) CHECK_EQ(said.number[i], kSingles * round + k);
      memset(&said, 0, sizeof said);
    }
#pragma omp atomic
    after++;
  }
  CHECK_RANGE(after, on ? 0 : threads, threads);
}

/* The same from outside of the region's text, where a compiler's barrier is none that is cancelled. */
static void say(int value) {
  struct {
    int number[16];
  } said;
#pragma omp single copyprivate(said)
  for (int i = 0; i < 16; i++) said.number[i] = value;
  for (int i = 0; i < 16; i++) CHECK_EQ(said.number[i], value);
}

static void said_elsewhere(int round) {
#pragma omp parallel num_threads(threads)
  {
    if (omp_get_thread_num() == round % threads) {
      leave_late(round);
#pragma omp cancel parallel
    }
    for (int k = 0; k < 4; k++) say(4 * round + k);
  }
}

/* Ordinary again. */
static void check_team(void) {
  int sum = 0;
#pragma omp parallel num_threads(threads) reduction(+ : sum)
  {
#pragma omp for ordered schedule(dynamic)
    for (int i = 0; i < 3 * threads; i++) {
#pragma omp ordered
      sum++;
    }
#pragma omp for ordered(1) schedule(static, 1)
    for (int i = 0; i < threads; i++) {
#pragma omp ordered depend(sink : i - 1)
      sum++;
#pragma omp ordered depend(source)
    }
  }
  CHECK_EQ(sum, 4 * threads);
}

int main(void) {
  on = omp_get_cancellation();
  threads = omp_get_max_threads();
  omp_set_dynamic(0);
  for (int round = 0; round < kRounds; round++) {
    doacross_blocks(round);
    doacross_chunks(round);
    doacross_dynamic(round);
    nests_ahead(round);
    turns_ahead(round);
    said_in_turn(round);
    said_elsewhere(round);
    check_team();
  }
  return 0;
}
