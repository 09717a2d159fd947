/* SPDX-License-Identifier: Apache-2.0
 *
 * The program of docs/guide/speculation.md: Jacobi's method for a row of points. The producer creates iterations
 * without waiting to hear whether the last one has converged.
 *
 * Covers: marline later cancellation
 */
#include <marline/marline.h>
#include <stdio.h>
#include <string.h>

enum { kPoints = 64, kBlocks = 4, kBlock = kPoints / kBlocks, kMost = 20000 };
static const double kTolerance = 1e-6;

typedef struct {
  double x[kPoints + 2]; /* with the two ends, which are fixed */
  double change[kBlocks];
} State;

static double larger(double a, double b) { return a > b ? a : b; }

static double distance(double a, double b) { return a > b ? a - b : b - a; }

static void update_block(State* to, const State* from, int b) {
  double change = 0;
  for (int i = 1 + b * kBlock; i <= (b + 1) * kBlock; i++) {
    to->x[i] = 0.5 * (from->x[i - 1] + from->x[i + 1]);
    change = larger(change, distance(to->x[i], from->x[i]));
  }
  to->change[b] = change;
}

static int has_converged(const State* state) {
  double change = 0;
  for (int b = 0; b < kBlocks; b++) change = larger(change, state->change[b]);
  return change < kTolerance;
}

static void start(State states[2]) {
  memset(states, 0, 2 * sizeof *states);
  states[0].x[kPoints + 1] = states[1].x[kPoints + 1] = 1;
}

static int plain(State states[2]) {
  start(states);
  for (int k = 1; k <= kMost; k++) {
    for (int b = 0; b < kBlocks; b++) update_block(&states[k % 2], &states[(k - 1) % 2], b);
    if (has_converged(&states[k % 2])) return k;
  }
  return kMost;
}

/* Iteration k + 2 writes where iteration k has been judged; iteration k + 1 may already run while it is. */
static int speculative(State states[2]) {
  char updated[2][kBlocks + 2], judged = 0;
  int iterations = 0;
  (void)judged; /* GCC does not count a depend clause as a use */
  start(states);
#pragma omp taskgroup
  for (int k = 1; k <= kMost && !marline_taskgroup_cancelled(); k++) {
    char *to = updated[k % 2], *from = updated[(k - 1) % 2];
    (void)to, (void)from;
    for (int b = 0; b < kBlocks; b++) {
#pragma omp task depend(out : to[b + 1]) depend(in : from[b], from[b + 1], from[b + 2]) firstprivate(k, b)
      update_block(&states[k % 2], &states[(k - 1) % 2], b);
    }
#pragma omp task depend(iterator(b = 1 : kBlocks + 1), in : to[b]) depend(inout : judged) firstprivate(k) \
    shared(iterations)
    {
      iterations = k;
      if (has_converged(&states[k % 2])) marline_taskgroup_cancel_later();
    }
  }
  return iterations;
}

int main(void) {
  static State expected[2], found[2];
  int iterations = plain(expected), same = 0;
#pragma omp parallel
#pragma omp single
  same = speculative(found) == iterations;
  same = same && memcmp(&expected[iterations % 2], &found[iterations % 2], sizeof *found) == 0;
  printf("%d iterations, %s\n", iterations, same ? "the same in both" : "different results");
  return !same;
}
