/* SPDX-License-Identifier: Apache-2.0
 *
 * All solutions of the 8 queens problem, a task for each legal placement and no cut-off: an uneven tree of tasks that
 * carry their board with them (firstprivate). Figure: `nqueens`, wall time per task. Each task adds up its children's
 * solutions after its taskwait, in plain memory on its own stack.
 */
#include "bench.h"

enum { kSide = 8, kSolutions = 92, kTasks = 2056 };

struct Board {
  char row[kSide];
};

static int is_legal(const struct Board* board, int column, int row) {
  for (int c = 0; c < column; ++c) {
    int distance = board->row[c] - row;
    if (distance == 0 || distance == column - c || distance == c - column) return 0;
  }
  return 1;
}

static long solve(struct Board board, int column) {
  if (column == kSide) return 1;
  long found[kSide] = {0};
  for (int row = 0; row < kSide; ++row) {
    if (!is_legal(&board, column, row)) continue;
    board.row[column] = (char)row;
#pragma omp task shared(found) firstprivate(board, column, row)
    found[row] = solve(board, column + 1);
  }
#pragma omp taskwait
  long sum = 0;
  for (int row = 0; row < kSide; ++row) sum += found[row];
  return sum;
}

static long solutions;

static void run(long rounds) {
  struct Board empty = {{0}};
  solutions = 0;
#pragma omp parallel
#pragma omp single
  for (long i = 0; i < rounds; ++i) solutions += solve(empty, 0);
}

static int check(long rounds) { return solutions == rounds * kSolutions; }

int main(int argc, char** argv) {
  static const struct BenchFigure figures[] = {{"nqueens", "ns", kTasks, run, check, NULL}};
  return bench_main(argc, argv, figures, 1);
}
