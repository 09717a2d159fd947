/* SPDX-License-Identifier: Apache-2.0
 *
 * Random trees of tasks with taskwait, taskgroup, taskyield, if(0), untied and a lock that is held across a yield; the
 * number of nodes is known, and a taskwait or a group's end must have seen all that it waits for. */
#include <omp.h>

#include "stress.h"

static omp_lock_t lock;
static long under_lock; /* plain: protected by the lock */

static void count_under_lock(uint64_t key) {
  omp_set_lock(&lock);
  long seen = under_lock;
  if (key % 5 == 0) {
#pragma omp taskyield
  }
  under_lock = seen + 1;
  omp_unset_lock(&lock);
}

static long grow(uint64_t seed, int depth) {
  uint64_t state = seed;
  int children = depth == 0 ? 0 : below(&state, 4);
  long counts[4] = {0};
  int group = below(&state, 3) == 0;
  count_under_lock(next_random(&state));
  for (int c = 0; c < children; ++c) {
    uint64_t key = next_random(&state);
    long* count = &counts[c];
    if (key % 4 == 0) {
#pragma omp task untied firstprivate(key, count, depth)
      *count = grow(key, depth - 1);
    } else {
#pragma omp task if (key % 7 != 0) firstprivate(key, count, depth)
      *count = grow(key, depth - 1);
    }
  }
  if (group) {
    long extra = 0;
#pragma omp taskgroup
    {
#pragma omp task shared(extra)
      {
#pragma omp task shared(extra)
        extra = 1;
      }
    }
    CHECK(extra == 1, "a group ended before its descendant");
  }
#pragma omp taskwait
  long total = 1;
  for (int c = 0; c < children; ++c) {
    CHECK(counts[c] > 0, "taskwait returned before child %d", c);
    total += counts[c];
  }
  return total;
}

static long nodes(uint64_t seed, int depth) { /* the same tree, sequentially */
  uint64_t state = seed;
  int children = depth == 0 ? 0 : below(&state, 4);
  below(&state, 3);
  next_random(&state);
  long total = 1;
  for (int c = 0; c < children; ++c) total += nodes(next_random(&state), depth - 1);
  return total;
}

int main(int argc, char** argv) {
  uint64_t seed = argument(argc, argv, 1, 1), rounds = argument(argc, argv, 2, 20);
  omp_init_lock(&lock);
  for (uint64_t round = 0; round < rounds; ++round) {
    uint64_t key = seed * 1000003u + round;
    long got = 0, want = nodes(key, 7);
    under_lock = 0;
#pragma omp parallel
#pragma omp single
    got = grow(key, 7);
    CHECK(got == want, "tree %llu: %ld nodes, %ld expected", (unsigned long long)key, got, want);
    CHECK(under_lock == want, "lock: %ld of %ld", under_lock, want);
  }
  omp_destroy_lock(&lock);
  return 0;
}
