/* SPDX-License-Identifier: Apache-2.0
 *
 * Tasks that never repeat: one thread creates tasks with one, two or five `inout` dependences on random cells of 512,
 * and waits after each 1,024. Figures: `random_1`, `random_2`, `random_5`, wall time per task, creation and execution
 * together. What a runtime does for programs that repeat themselves must cost nothing here
 * (docs/design/automatic-persistence.md). A cell's value depends on the order of all tasks that have named it.
 */

#include "bench.h"

#include <stdint.h>

enum { kCells = 512, kBetweenWaits = 1024, kWords = 8 };

static struct Cell {
  uint64_t value, rest_of_line[kWords - 1];
} cells[kCells];
static uint64_t state;

/* xorshift64 */
static inline struct Cell* random_cell(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return &cells[(state >> 20) % kCells];
}

static void begin(void) {
  state = 88172645463325252u;
  memset(cells, 0, sizeof cells);
}

static inline void visit(struct Cell* cell, long number) { cell->value = 3 * cell->value + (uint64_t)number; }

static inline void create(int count, long number) {
  struct Cell *a = random_cell(), *b = a, *c = a, *d = a, *e = a;
  if (count > 1) b = random_cell();
  if (count > 2) c = random_cell(), d = random_cell(), e = random_cell();
  if (count == 1) {
#pragma omp task firstprivate(a, number) depend(inout : *a)
    visit(a, number);
  } else if (count == 2) {
#pragma omp task firstprivate(a, b, number) depend(inout : *a, *b)
    visit(a, number), visit(b, number);
  } else {
#pragma omp task firstprivate(a, b, c, d, e, number) depend(inout : *a, *b, *c, *d, *e)
    visit(a, number), visit(b, number), visit(c, number), visit(d, number), visit(e, number);
  }
}

static inline void run(int count, long rounds) {
  begin();
#pragma omp parallel
#pragma omp single
  for (long i = 0; i < rounds * kBetweenWaits; ++i) {
    if (i % kBetweenWaits == 0) {
#pragma omp taskwait
    }
    create(count, i);
  }
}

static inline int check(int count, long rounds) {
  static struct Cell parallel[kCells];
  memcpy(parallel, cells, sizeof cells);
  begin();
  for (long i = 0; i < rounds * kBetweenWaits; ++i)
    for (int k = 0; k < count; ++k) visit(random_cell(), i);
  return !memcmp(parallel, cells, sizeof cells);
}

static void run_1(long rounds) { run(1, rounds); }
static void run_2(long rounds) { run(2, rounds); }
static void run_5(long rounds) { run(5, rounds); }
static int check_1(long rounds) { return check(1, rounds); }
static int check_2(long rounds) { return check(2, rounds); }
static int check_5(long rounds) { return check(5, rounds); }

int main(int argc, char** argv) {
  static const struct BenchFigure figures[] = {{"random_1", "ns", kBetweenWaits, run_1, check_1, NULL},
                                               {"random_2", "ns", kBetweenWaits, run_2, check_2, NULL},
                                               {"random_5", "ns", kBetweenWaits, run_5, check_5, NULL}};
  return bench_main(argc, argv, figures, 3);
}
