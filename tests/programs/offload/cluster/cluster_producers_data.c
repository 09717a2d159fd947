/* SPDX-License-Identifier: Apache-2.0
 *
 * Several threads create chains at the same time that bring an array, use it and take it home. All regions read an
 * array that they map themselves: regions of different threads share it, or have it one after the other. Half of the
 * threads cancel their taskgroup on the way. Then only a beginning of the chain has run, and no value has come back to
 * the host that was not computed.
 *
 * Covers: target enter data(map:to, nowait, depend), target exit data(map:from, nowait, depend),
 *   target(nowait, depend, map:to, map:tofrom), taskgroup, cancel(taskgroup)
 */
#include "../device.h"

enum { kThreads = 4, kRounds = 40, kInts = 500 };

static int g_arrays[kThreads][kInts], g_counts[kThreads][2], g_addends[kInts];

static void create_round(int* a, int* count) {
  int* addends = g_addends;
  (void)addends, (void)count; /* GCC does not count their use in a map */
#pragma omp target enter data map(to : a[0 : kInts]) depend(inout : a[0]) nowait
#pragma omp target nowait depend(inout : a[0]) map(tofrom : a[0 : kInts]) map(to : addends[0 : kInts])
  for (int i = 0; i < kInts; i++) a[i] += addends[i];
#pragma omp target nowait depend(inout : a[0]) map(tofrom : count[0 : 2]) map(to : a[0 : kInts], addends[0 : kInts])
  {
    count[0]++;
    count[1] = a[kInts - 1] / addends[kInts - 1];
  }
#pragma omp target exit data map(from : a[0 : kInts]) depend(inout : a[0]) nowait
}

static void produce(int thread, int cancels) {
#pragma omp taskgroup
  for (int round = 0; round < kRounds; round++) {
    create_round(g_arrays[thread], g_counts[thread]);
    if (cancels && round == kRounds / 2) {
#pragma omp task
      {
#pragma omp cancel taskgroup
      }
    }
  }
}

static void check(int thread) {
  int *a = g_arrays[thread], *count = g_counts[thread], came_home = a[0],
      cancels = thread % 2 && omp_get_cancellation();
  CHECK(cancels ? came_home <= kRounds : came_home == kRounds);
  for (int i = 0; i < kInts; i++) CHECK_EQ(a[i], came_home * (i % 50 + 1));
  CHECK(came_home <= count[0] || !own_copies());
  CHECK(count[0] <= kRounds && count[1] == count[0]);
#pragma omp target exit data map(delete : a[0 : kInts])
}

int main(void) {
  for (int i = 0; i < kInts; i++) g_addends[i] = i % 50 + 1;
#pragma omp parallel num_threads(kThreads)
  produce(omp_get_thread_num(), omp_get_thread_num() % 2);
  for (int thread = 0; thread < kThreads; thread++) check(thread);
  return 0;
}
