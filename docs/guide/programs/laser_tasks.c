// SPDX-License-Identifier: Apache-2.0
// As laser.c, but each block, send and receive of a step is a task. No rank waits for a step of another rank: a task
// starts as soon as the data that it needs is there.
#include <mpi.h>
#include <stdio.h>

enum { kBlocks = 8, kCells = 64, kSteps = 16, kSweeps = 8000, kHotSweeps = 17 * kSweeps };

typedef struct {
  double left, right;
} Ends;

static double cells[kBlocks + 2][kCells];  // of blocks 1 to kBlocks
static Ends ends[2][kBlocks + 2];          // before even and odd steps; 0 and kBlocks + 1 are the other ranks' blocks

// Advances block b by one step.
static void heat(int b, const Ends* before, Ends* after, int is_hit) {
  double *cell = cells[b], left = before[b - 1].right, right = before[b + 1].left;
  for (int sweep = 0; sweep < (is_hit ? kHotSweeps : kSweeps); ++sweep) {
    if (is_hit) cell[kCells / 2] = 1000;
    cell[0] = 0.5 * cell[0] + 0.25 * (left + cell[1]);
    for (int i = 1; i < kCells - 1; ++i) cell[i] = 0.5 * cell[i] + 0.25 * (cell[i - 1] + cell[i + 1]);
    cell[kCells - 1] = 0.5 * cell[kCells - 1] + 0.25 * (cell[kCells - 2] + right);
  }
  after[b] = (Ends){cell[0], cell[kCells - 1]};
}

int main(int argc, char** argv) {
  int rank, ranks, provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int left = rank > 0 ? rank - 1 : MPI_PROC_NULL, right = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
  double start = MPI_Wtime();

#pragma omp parallel
#pragma omp single
  for (int step = 0; step < kSteps; ++step) {
    int hit = step * 5 % (ranks * kBlocks) - rank * kBlocks + 1;
    Ends *before = ends[step % 2], *after = ends[(step + 1) % 2];
    for (int b = 1; b <= kBlocks; ++b) {
#pragma omp task depend(in : before[b - 1], before[b + 1]) depend(inout : cells[b]) depend(out : after[b])
      heat(b, before, after, b == hit);
    }
#pragma omp task untied depend(in : after[1])
    MPI_Send(&after[1].left, 1, MPI_DOUBLE, left, step, MPI_COMM_WORLD);
#pragma omp task untied depend(in : after[kBlocks])
    MPI_Send(&after[kBlocks].right, 1, MPI_DOUBLE, right, step, MPI_COMM_WORLD);
#pragma omp task untied depend(out : after[0])
    MPI_Recv(&after[0].right, 1, MPI_DOUBLE, left, step, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#pragma omp task untied depend(out : after[kBlocks + 1])
    MPI_Recv(&after[kBlocks + 1].left, 1, MPI_DOUBLE, right, step, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }

  double seconds = MPI_Wtime() - start, mine = 0, all;
  for (int b = 1; b <= kBlocks; ++b)
    for (int i = 0; i < kCells; ++i) mine += cells[b][i];
  MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("heat %.3f after %d steps, %.0f ms\n", all, kSteps, 1000 * seconds);
  MPI_Finalize();
}
