/* SPDX-License-Identifier: Apache-2.0
 *
 * Dynamic loops whose chunks may come in any order: of random length, chunk size and direction, with bodies of any
 * length, several behind each other without a barrier, and some of them cancelled. Each iteration runs once, and the
 * value after the loop is that of the last iteration. Short loops end while a thread steals; in long ones bodies become
 * long when threads have many chunks in reserve. */
#include <omp.h>
#include <string.h>

#include "stress.h"

#define MOST 6000
#define LOOPS 3

static unsigned char runs[LOOPS][MOST];

struct loop {
  long n, from; /* iterations; the first one with a long body */
  int chunk;
};

/* Most bodies are empty. */
static void body(int number, long i, struct loop loop) {
  __atomic_fetch_add(&runs[number][i], 1, __ATOMIC_RELAXED);
  uint64_t state = (uint64_t)i;
  if (i < loop.from || below(&state, 8) != 0) return;
  uint64_t length = next_random(&state) % 5000;
  for (volatile uint64_t k = 0; k < length; ++k) {
  }
}

static struct loop any_loop(uint64_t* state) {
  struct loop loop = {below(state, below(state, 3) == 0 ? MOST : 200), below(state, MOST), 1 + below(state, 4)};
  return loop;
}

static void check_all(int number, struct loop loop) {
  for (long i = 0; i < MOST; ++i) {
    CHECK(runs[number][i] == (i < loop.n), "loop %d of %ld by %d: iteration %ld ran %d times", number, loop.n,
          loop.chunk, i, runs[number][i]);
  }
}

/* Threads may be in different loops at the same time. */
static void in_a_row(uint64_t* state) {
  struct loop a = any_loop(state), b = any_loop(state), c = any_loop(state);
  long last_a = -1, last_b = -1;
  memset(runs, 0, sizeof runs);
#pragma omp parallel
  {
#pragma omp for schedule(nonmonotonic : dynamic, a.chunk) lastprivate(last_a) nowait
    for (long i = 0; i < a.n; ++i) {
      body(0, i, a);
      last_a = i;
    }
#pragma omp for schedule(nonmonotonic : dynamic, b.chunk) lastprivate(last_b) nowait
    for (unsigned long i = (unsigned long)b.n; i > 0; --i) {
      body(1, (long)i - 1, b);
      last_b = (long)i;
    }
#pragma omp for schedule(nonmonotonic : dynamic, c.chunk)
    for (int i = 0; i < (int)c.n; ++i) body(2, i, c);
  }
  check_all(0, a);
  check_all(1, b);
  check_all(2, c);
  if (a.n > 0) CHECK(last_a == a.n - 1, "%ld after a loop of %ld", last_a, a.n);
  if (b.n > 0) CHECK(last_b == 1, "%ld after a loop from %ld to 1", last_b, b.n);
}

/* The loop after a cancelled one has nothing of it. Needs OMP_CANCELLATION=true. */
static void after_a_cancelled_one(uint64_t* state) {
  struct loop a = any_loop(state), b = any_loop(state);
  long stop = below(state, MOST);
  memset(runs, 0, sizeof runs);
#pragma omp parallel
  {
#pragma omp for schedule(nonmonotonic : dynamic, a.chunk)
    for (long i = 0; i < a.n; ++i) {
      body(0, i, a);
      if (i == stop) {
#pragma omp cancel for
      }
#pragma omp cancellation point for
    }
#pragma omp for schedule(nonmonotonic : dynamic, b.chunk)
    for (long i = 0; i < b.n; ++i) body(1, i, b);
  }
  for (long i = 0; i < MOST; ++i) CHECK(runs[0][i] <= (i < a.n), "iteration %ld ran %d times", i, runs[0][i]);
  check_all(1, b);
}

int main(int argc, char** argv) {
  uint64_t state = argument(argc, argv, 1, 1), rounds = argument(argc, argv, 2, 40);
  for (uint64_t round = 0; round < rounds; ++round) {
    in_a_row(&state);
    after_a_cancelled_one(&state);
  }
  printf("%lu rounds\n", (unsigned long)rounds);
  return 0;
}
