/* SPDX-License-Identifier: Apache-2.0
 *
 * Atomic operations and flushes with memory orders, and conditional updates: a message that was published with release
 * and seen with acquire is whole; a maximum over all threads is the maximum.
 *
 * Covers: atomic(seq_cst, acq_rel, acquire, release, relaxed, hint), flush(acq_rel, acquire, release)
 * Covers (gcc): atomic(compare, fail, weak), flush(seq_cst)
 * Covers (clang19): atomic(compare)
 */
#include "../check.h"
#include <omp.h>

enum { kMessages = 200, kRounds = 1000 };

static int message, sequence, taken;

static void publish(void) {
  for (int i = 1; i <= kMessages; i++) {
    message = i;
#pragma omp atomic write release
    sequence = i;
    for (int seen = 0; seen != i;) {
#pragma omp atomic read acquire
      seen = taken;
    }
  }
}

static void receive(void) {
  for (int i = 1; i <= kMessages; i++) {
    for (int seen = 0; seen != i;) {
#pragma omp atomic read acquire
      seen = sequence;
    }
    CHECK_EQ(message, i);
#pragma omp atomic write release
    taken = i;
  }
}

static void hand_over(void) {
  omp_set_dynamic(0);
#pragma omp parallel num_threads(2)
  {
    if (omp_get_num_threads() == 2) {
      if (omp_get_thread_num() == 0)
        publish();
      else
        receive();
    }
  }
}

static void counters(void) {
  int relaxed = 0, strict = 0, both = 0, hinted = 0, old, team = 0;
#pragma omp parallel private(old)
  {
#pragma omp single
    team = omp_get_num_threads();
    for (int i = 0; i < kRounds; i++) {
#pragma omp atomic update relaxed
      relaxed++;
#pragma omp atomic seq_cst
      strict += 2;
#pragma omp atomic capture acq_rel
      old = both++;
      CHECK(old >= 0);
#pragma omp atomic hint(omp_sync_hint_contended)
      hinted++;
#pragma omp flush acq_rel
#pragma omp flush acquire
#pragma omp flush release
#ifndef __clang__
#pragma omp flush seq_cst
#endif
    }
  }
  CHECK_EQ(relaxed, kRounds * team);
  CHECK_EQ(strict, 2 * kRounds * team);
  CHECK_EQ(both, kRounds * team);
  CHECK_EQ(hinted, kRounds * team);
}

static void conditional(void) {
#if !defined __clang__ || __clang_major__ >= 19
  int most = -1, once = 0, team = 0;
#pragma omp parallel
  {
#pragma omp single
    team = omp_get_num_threads();
    int mine = omp_get_thread_num();
    for (int i = 0; i < kRounds; i++) {
      int value = (i * 37 % kRounds) * 100 + mine;
#pragma omp atomic compare
      if (most < value) {
        most = value;
      }
    }
#pragma omp atomic compare seq_cst
    if (once == 0) {
      once = mine + 1;
    }
  }
  CHECK_EQ(most, (kRounds - 1) * 100 + team - 1);
  CHECK_RANGE(once, 1, team);
#endif
#ifndef __clang__
  int cell = 0, won = 0;
#pragma omp parallel reduction(+ : won)
  {
    int mine = omp_get_thread_num() + 1, ok = 0, before = 0;
#pragma omp atomic compare capture acq_rel fail(acquire)
    {
      before = cell;
      if (cell == 0) {
        cell = mine;
      }
    }
    won += before == 0 && mine > 0;
    do { /* weak: may fail for no reason, so try until the cell is another's or mine */
#pragma omp atomic compare capture weak
      {
        ok = cell == 0;
        if (ok) {
          cell = mine;
        }
      }
    } while (!ok && cell == 0);
  }
  CHECK_EQ(won, 1);
#endif
}

int main(void) {
  hand_over();
  counters();
  conditional();
  return 0;
}
