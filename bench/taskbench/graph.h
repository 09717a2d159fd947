/* SPDX-License-Identifier: Apache-2.0
 *
 * The task graph of the benchmark, as a function: `steps` rows of up to `width` tasks; task (t, i) reads outputs of row
 * t - 1 only, and the pattern says which. The idea and the names are from Slaughter et al., "Task Bench: A
 * Parameterized Benchmark for Evaluating Parallel Runtime Performance" (SC'20); the exact rules are in README.md.
 * Nothing here holds state, so any thread may ask. The invariant: j is in graph_dependences(t, i) exactly if i is in
 * graph_readers(t - 1, j), and both lie inside their rows; the two are computed independently of each other, and a test
 * compares them.
 */
#ifndef MARLINE_TASKBENCH_GRAPH_H
#define MARLINE_TASKBENCH_GRAPH_H

#include <stdint.h>

enum Pattern {
  kTrivial,
  kNoComm,
  kStencil,
  kStencilPeriodic,
  kDom,
  kTree,
  kFft,
  kAllToAll,
  kNearest,
  kSpread,
  kRandomNearest,
  kPatterns
};

extern const char* const kPatternNames[kPatterns];

enum { kMaxIntervals = 64, kRandomPeriod = 16 };

struct Graph {
  enum Pattern pattern;
  long width;
  long steps;
  long radix;      /* nearest, spread, random_nearest: inputs of a task */
  double fraction; /* random_nearest: share of the inputs that is kept */
  uint64_t seed;
};

struct Interval {
  long first, last; /* both included */
};

/* Columns, ascending; intervals do not touch. */
struct IntervalSet {
  int count;
  struct Interval at[kMaxIntervals];
};

/* NULL, or a text that says what is wrong with the parameters. */
const char* graph_check(const struct Graph* graph);

long graph_width_at(const struct Graph* graph, long t);

/* Steps of equal phase have equal dependences and equal width. Step `from` and later steps repeat with this period;
 * each earlier step is a phase of its own. Step 0, which reads nothing, is not repeated. */
struct Cycle {
  long from, period;
};

struct Cycle graph_cycle(const struct Graph* graph);

static inline long cycle_phase(struct Cycle cycle, long t) {
  if (t < cycle.from + cycle.period) return t;
  return cycle.period == 1 ? cycle.from : cycle.from + (t - cycle.from) % cycle.period;
}

void graph_dependences(const struct Graph* graph, long t, long i, struct IntervalSet* out);
/* The tasks of step t + 1 that read (t, i); none for the last step. */
void graph_readers(const struct Graph* graph, long t, long i, struct IntervalSet* out);

/* A bijection of 64-bit words in which each result bit depends on all bits: splitmix64 (Steele, Lea, Flood,
 * OOPSLA'14). */
static inline uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/* A number in [0, 1), the same whenever the four words are the same. */
double graph_uniform(uint64_t a, uint64_t b, uint64_t c, uint64_t d);

#endif
