/* SPDX-License-Identifier: Apache-2.0
 *
 * The proc_bind clause on a described machine of 2 sockets x 2 NUMA domains x 4 cores x 2 hardware threads
 * (tests/programs/CMakeLists.txt), with OMP_PLACES=cores: where the threads of teams smaller and larger than the place
 * list are, which part of it their inner teams have, that the clause holds for its region only, and that it has no
 * effect with OMP_PROC_BIND=false. Teams of equal size follow one another with different clauses.
 *
 * Covers: parallel(proc_bind), omp_get_proc_bind, omp_get_place_num,
 *  omp_get_partition_num_places, omp_get_partition_place_nums, OMP_PROC_BIND, OMP_PLACES, OMP_DISPLAY_AFFINITY
 */
#include "../child.h"
#include <omp.h>

enum { kPlaces = 16, kMost = 64 };

/* What the threads of a region saw. */
typedef struct {
  int threads, place[kMost], first[kMost], count[kMost];
} Seen;

static void look(Seen* seen) {
  int places[kPlaces], thread = omp_get_thread_num();
  if (thread == 0) seen->threads = omp_get_num_threads();
  seen->place[thread] = omp_get_place_num();
  seen->count[thread] = omp_get_partition_num_places();
  CHECK_RANGE(seen->count[thread], 1, kPlaces);
  omp_get_partition_place_nums(places);
  seen->first[thread] = places[0];
  for (int i = 1; i < seen->count[thread]; i++) CHECK_EQ(places[i], places[0] + i);
}

static void expect(const Seen* seen, int threads, int thread, int place, int first, int count) {
  CHECK_EQ(seen->threads, threads);
  CHECK_EQ(seen->place[thread], place);
  CHECK_EQ(seen->first[thread], first);
  CHECK_EQ(seen->count[thread], count);
}

/* Of the places first, first + 1, ...; the opener is on the first of them. */
static void close_to(int first, int count, int threads) {
  Seen seen;
#pragma omp parallel num_threads(threads) proc_bind(close)
  look(&seen);
  for (int i = 0; i < threads; i++)
    expect(&seen, threads, i, first + (threads <= count ? i : i / (threads / count)), first, count);
}

static void spread_over(int first, int count, int threads) {
  Seen seen;
#pragma omp parallel num_threads(threads) proc_bind(spread)
  look(&seen);
  for (int i = 0; i < threads; i++) {
    int part = threads <= count ? count / threads : 1;
    int begin = first + (threads <= count ? i * part : i / (threads / count));
    expect(&seen, threads, i, begin, begin, part);
  }
}

static void at_primary(int first, int count, int threads) {
  Seen seen;
#pragma omp parallel num_threads(threads) proc_bind(primary)
  look(&seen);
  for (int i = 0; i < threads; i++) expect(&seen, threads, i, first, first, count);
}

static void all_policies(int first, int count) {
  static const int sizes[] = {2, 4, 2, 1, 8, 8};
  for (int i = 0; i < 6; i++) {
    int threads = sizes[i];
    close_to(first, count, threads);
    spread_over(first, count, threads);
    at_primary(first, count, threads);
    close_to(first, count, threads);
  }
}

/* The uneven cases: OpenMP leaves open who gets more, not how many. */
static void uneven(void) {
  Seen seen;
#pragma omp parallel num_threads(3) proc_bind(spread)
  look(&seen);
  expect(&seen, 3, 0, 0, 0, seen.count[0]);
  int next = 0;
  for (int i = 0; i < 3; i++) {
    CHECK_EQ(seen.first[i], next);
    CHECK_EQ(seen.place[i], next);
    CHECK_RANGE(seen.count[i], 5, 6);
    next += seen.count[i];
  }
  CHECK_EQ(next, kPlaces);
  int load[kPlaces] = {0};
#pragma omp parallel num_threads(40) proc_bind(close)
  look(&seen);
  for (int i = 0; i < 40; i++) load[seen.place[i]]++;
  for (int i = 0; i < kPlaces; i++) CHECK_RANGE(load[i], 2, 3);
  CHECK_EQ(seen.place[0], 0);
}

/* Each thread of the outer team has a NUMA domain, and its inner teams stay there. */
static void nested(void) {
  omp_set_max_active_levels(3);
#pragma omp parallel num_threads(4) proc_bind(spread)
  {
    int mine = 4 * omp_get_thread_num();
    CHECK_EQ(omp_get_place_num(), mine);
    for (int round = 0; round < 3; round++) {
      close_to(mine, 4, 2);
      spread_over(mine, 4, 2);
      close_to(mine, 4, 8);
      spread_over(mine, 4, 4);
      at_primary(mine, 4, 3);
    }
    CHECK_EQ(omp_get_place_num(), mine);
    CHECK_EQ(omp_get_partition_num_places(), 4);
  }
  /* Two levels of spread: sockets, then halves of them, then close. */
#pragma omp parallel num_threads(2) proc_bind(spread)
#pragma omp parallel num_threads(2) proc_bind(spread)
  {
    int mine = 8 * omp_get_ancestor_thread_num(1) + 4 * omp_get_thread_num();
    CHECK_EQ(omp_get_place_num(), mine);
    close_to(mine, 4, 2);
  }
}

/* A serialised region is a level of OMP_PROC_BIND's list, and leaves places as they are. */
static void serialised(void) {
  Seen seen;
#pragma omp parallel num_threads(4)
  look(&seen);
  expect(&seen, 4, 1, 4, 4, 4);
#pragma omp parallel if (0)
  {
    CHECK_EQ(omp_get_proc_bind(), omp_proc_bind_close);
    CHECK_EQ(omp_get_partition_num_places(), kPlaces);
#pragma omp parallel num_threads(4)
    look(&seen);
  }
  expect(&seen, 4, 1, 1, 0, kPlaces);
#pragma omp parallel num_threads(4)
  look(&seen);
  expect(&seen, 4, 1, 4, 4, 4);
}

static void without_effect(void) {
  for (int round = 0; round < 3; round++) {
#pragma omp parallel num_threads(2 + round) proc_bind(spread)
    {
      CHECK_EQ(omp_get_num_threads(), 2 + round);
      CHECK_EQ(omp_get_place_num(), -1);
      CHECK_EQ(omp_get_partition_num_places(), kPlaces);
    }
  }
}

/* OMP_DISPLAY_AFFINITY: a line per thread for the first region and where the places change, not only the size. The
 * lines name the place, the policy, and the CPUs of the place on the machine that is described. */
static int show(void) {
  for (int round = 0; round < 4; round++) {
#pragma omp parallel num_threads(4) proc_bind(spread)
    CHECK_EQ(omp_get_place_num(), 4 * omp_get_thread_num());
  }
#pragma omp parallel num_threads(4) proc_bind(close)
  CHECK_EQ(omp_get_place_num(), omp_get_thread_num());
#pragma omp parallel num_threads(4) proc_bind(close)
  CHECK_EQ(omp_get_place_num(), omp_get_thread_num());
  return 0;
}

static void display(void) {
  static Child child;
  char* variables[] = {"OMP_DISPLAY_AFFINITY=true",
                       "OMP_AFFINITY_FORMAT=@@ %n of %N on %{place_num} by %{proc_bind}: {%A}", NULL};
  run_child(&child, "show", variables);
  CHECK_EQ(child.status, 0);
  int lines = 0;
  for (const char* at = child.output; (at = strstr(at, "@@ ")) != NULL; at++) lines++;
  CHECK_EQ(lines, 8);
  for (int i = 0; i < 4; i++) {
    char spread[64], close[64];
    snprintf(spread, sizeof spread, "@@ %d of 4 on %d by spread: {%d-%d}", i, 4 * i, 8 * i, 8 * i + 1);
    snprintf(close, sizeof close, "@@ %d of 4 on %d by close: {%d-%d}", i, i, 2 * i, 2 * i + 1);
    CHECK_LINE(&child, spread);
    CHECK_LINE(&child, close);
  }
}

int main(int argc, char** argv) {
  (void)argv;
  if (argc > 1) return show();
  CHECK_EQ(omp_get_num_places(), kPlaces);
  if (omp_get_proc_bind() == omp_proc_bind_false) {
    without_effect();
    return 0;
  }
  CHECK_EQ(omp_get_proc_bind(), omp_proc_bind_spread);
  CHECK_EQ(omp_get_place_num(), 0); /* of the initial thread, before any region */
  for (int round = 0; round < 2; round++) {
    all_policies(0, kPlaces);
    uneven();
    CHECK_EQ(omp_get_proc_bind(), omp_proc_bind_spread);
  }
  nested();
  serialised();
  display();
  return 0;
}
