/* SPDX-License-Identifier: Apache-2.0
 *
 * Several threads create chains of deferred regions at the same time. All regions map the same arrays as a whole and
 * write elements of their own. Half of the threads cancel their taskgroup on the way: what has run of each chain is its
 * begin.
 *
 * Covers: target(nowait, depend, map:tofrom, firstprivate), taskgroup, cancel(taskgroup),
 *   target enter data(map:to), target exit data(map:from)
 */
#include "../device.h"

#include <stdlib.h>

enum { kThreads = 4, kChains = 3, kLength = 40, kRounds = 3, kSlots = kThreads * kRounds * kChains };

static int g_counts[kSlots], g_ran[kSlots * kLength];
static char g_cells[kSlots];
static int g_step[4] = {0, 0, 1, 0}; /* too large for a word: each region has a copy in memory */

static void create(int slot, int i) {
  int *counts = g_counts, *ran = g_ran;
  (void)counts, (void)ran; /* GCC does not count their use in a map */
#pragma omp target nowait depend(inout : g_cells[slot]) map(tofrom : counts[0 : kSlots], ran[0 : kSlots * kLength]) \
    firstprivate(slot, i, g_step)
  {
    counts[slot] += g_step[2];
    g_step[2] = 100;
    ran[slot * kLength + i] = counts[slot];
  }
}

/* A host task in the middle of each chain, too. */
static void produce(int first, int cancels) {
#pragma omp taskgroup
  for (int i = 0; i < kLength; i++) {
    for (int chain = 0; chain < kChains; chain++) {
      create(first + chain, i);
#pragma omp task depend(inout : g_cells[first + chain]) if (i == kLength / 4)
      (void)cancels;
    }
    if (cancels && i == kLength / 2) {
#pragma omp task
      {
#pragma omp cancel taskgroup
      }
    }
  }
}

int main(void) {
  int *counts = g_counts, *ran = g_ran;
  (void)counts, (void)ran;
#pragma omp target enter data map(to : counts[0 : kSlots], ran[0 : kSlots * kLength])
#pragma omp parallel num_threads(kThreads)
  for (int round = 0; round < kRounds; round++) {
    int thread = omp_get_thread_num();
    produce((thread * kRounds + round) * kChains, thread % 2);
  }
#pragma omp target exit data map(from : counts[0 : kSlots], ran[0 : kSlots * kLength])
  for (int slot = 0; slot < kSlots; slot++) {
    int cancels = slot / (kRounds * kChains) % 2, count = counts[slot];
    CHECK(count <= kLength && (count == kLength || (cancels && omp_get_cancellation())));
    for (int i = 0; i < kLength; i++) CHECK_EQ(ran[slot * kLength + i], i < count ? i + 1 : 0);
  }
  return 0;
}
