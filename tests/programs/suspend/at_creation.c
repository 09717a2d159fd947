/* SPDX-License-Identifier: Apache-2.0
 *
 * Tasks that run at their creation (outside of parallel regions all do, up to a depth). One that blocks lets its
 * creator go on, with the creator's floating-point control, errno and local variables, and finds its own when it is
 * resumed. One that has run through has not changed the creator's errno. Fibers that have carried either kind carry the
 * other next.
 *
 * Covers: marline suspension
 */
#include "rendezvous.h"
#include <errno.h>
#include <fenv.h>
#include <omp.h>

enum { kRounds = 2000, kDepth = 20 };

static marline_event_t gate[kDepth];
static int progress[kDepth];

static void disturb(int mode, int error) {
  fesetround(mode);
  errno = error;
}

static void expect(int mode, int error) {
  CHECK_EQ(fegetround(), mode);
  CHECK_EQ(errno, error);
}

static void block(int i) {
  volatile char kept[200];
  for (int b = 0; b < 200; b++) kept[b] = (char)(b + i);
  disturb(FE_UPWARD, 11 + i);
  progress[i] = 1;
  marline_event_wait(&gate[i]);
  expect(FE_UPWARD, 11 + i);
  for (int b = 0; b < 200; b++) CHECK_EQ(kept[b], (char)(b + i));
  progress[i] = 2;
  disturb(FE_TONEAREST, 0);
}

/* What it does to floating-point control it takes back, as any function must: to read that costs more than the call. */
static void run_through(int* done) {
  errno = 99;
  ++*done;
}

/* One task that blocks, between tasks that do not. */
static void creator_goes_on(int untied) {
  int done = 0;
  marline_event_init(&gate[0]);
  progress[0] = 0;
  disturb(FE_DOWNWARD, 7);
#pragma omp task shared(done)
  run_through(&done);
  expect(FE_DOWNWARD, 7);
  CHECK_EQ(done, 1);
  if (untied) {
#pragma omp task untied
    block(0);
  } else {
#pragma omp task
    block(0);
  }
  expect(FE_DOWNWARD, 7);
  CHECK_EQ(progress[0], 1);
#pragma omp task shared(done)
  run_through(&done);
  expect(FE_DOWNWARD, 7);
  CHECK_EQ(done, 2);
  marline_event_fulfill(&gate[0]);
  disturb(FE_TONEAREST, 0);
#pragma omp taskwait
  CHECK_EQ(progress[0], 2);
}

/* Each creates the next, then blocks; the taskgroup counts them all, and so do the taskwaits. */
static void nest(int depth, int* ended) {
  if (depth == kDepth) return;
#pragma omp task firstprivate(depth, ended)
  {
    nest(depth + 1, ended);
    marline_event_wait(&gate[depth]);
#pragma omp taskwait
#pragma omp atomic
    ++*ended;
  }
}

static void nested(void) {
  int ended = 0;
  for (int i = 0; i < kDepth; i++) marline_event_init(&gate[i]);
#pragma omp taskgroup
  {
    nest(0, &ended);
#pragma omp task
    for (int i = 0; i < kDepth; i++) marline_event_fulfill(&gate[i]);
  }
  CHECK_EQ(ended, kDepth);
}

/* Deeper than tasks run at their creation: the innermost are queued, and started by a switch, on fibers that were
 * called before and had called others. */
static void run_through_nested(int depth, int* ended) {
  if (depth == kDepth) return;
#pragma omp task firstprivate(depth, ended)
  {
    run_through_nested(depth + 1, ended);
#pragma omp atomic
    ++*ended;
  }
}

/* Counts of a task group that is not the creator's own, and of one that is. */
static void groups(void) {
  int ran = 0;
#pragma omp taskgroup
  {
#pragma omp task shared(ran)
    {
      for (int i = 0; i < 10; i++) {
#pragma omp task shared(ran)
#pragma omp atomic
        ran++;
      }
#pragma omp taskgroup
      {
#pragma omp task shared(ran)
#pragma omp atomic
        ran++;
      }
    }
  }
  CHECK_EQ(ran, 11);
}

int main(void) {
  for (int i = 0; i < kRounds; i++) creator_goes_on(i % 2);
  for (int i = 0; i < kRounds / 20; i++) {
    int ended = 0;
    run_through_nested(0, &ended);
#pragma omp taskwait
    CHECK_EQ(ended, kDepth);
    nested();
    groups();
  }
  return 0;
}
