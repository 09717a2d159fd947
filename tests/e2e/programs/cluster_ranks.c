// SPDX-License-Identifier: Apache-2.0
//
// test_cluster_ranks.py: a ring of cells that is cut among the ranks of an MPI program, each of which is the head of a
// cluster of its own. All steps are created at once: regions for the blocks of a rank's cells, updates of the cells at
// the ends, and host tasks that exchange these by MPI. Prints, for each rank, whether its cells equal what one thread
// computes, and the processes that have run its regions.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { kBlocks = 4, kBlock = 64, kCells = kBlocks * kBlock, kSteps = 12, kModulus = 1000003 };

static long cells[2][kCells + 2];  // of a step and of the next one, with a neighbour's at each end
static int processes[kBlocks * kSteps];

static long cell_after(long left, long right, int step) { return (3 * left + right + step) % kModulus; }

// The cells of the whole ring.
static void compute_alone(long* ring, int count) {
  long* next = malloc(count * sizeof *next);
  for (int step = 0; step < kSteps; ++step) {
    for (int i = 0; i < count; ++i) next[i] = cell_after(ring[(i + count - 1) % count], ring[(i + 1) % count], step);
    for (int i = 0; i < count; ++i) ring[i] = next[i];
  }
  free(next);
}

static void exchange(long* now, int left, int right) {
  MPI_Request requests[4];
  MPI_Irecv(&now[0], 1, MPI_LONG, left, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(&now[kCells + 1], 1, MPI_LONG, right, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(&now[kCells], 1, MPI_LONG, right, 0, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(&now[1], 1, MPI_LONG, left, 1, MPI_COMM_WORLD, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

// Dependences name, in `cells` of the step, the first cell of a block, and the neighbours' cells.
static void create_step(int step, int left, int right) {
  long *now = cells[step % 2], *next = cells[1 - step % 2];
  for (int b = 0; b < kBlocks; ++b) {
    int first = 1 + b * kBlock, before = b == 0 ? 0 : first - kBlock, after = first + kBlock,
        *process = &processes[step * kBlocks + b];
#pragma omp target nowait depend(in : now[before], now[first], now[after]) depend(out : next[first]) \
    map(tofrom : now[0 : kCells + 2], next[0 : kCells + 2], process[0 : 1]) firstprivate(first, step)
    {
      for (int i = first; i < first + kBlock; ++i) next[i] = cell_after(now[i - 1], now[i + 1], step);
      process[0] = getpid();
    }
  }
  int last = 1 + kCells - kBlock;
#pragma omp target update from(next[1 : 1]) depend(in : next[1]) depend(out : next[0]) nowait
#pragma omp target update from(next[kCells : 1]) depend(in : next[last]) depend(out : next[kCells + 1]) nowait
#pragma omp task depend(inout : next[0], next[kCells + 1]) firstprivate(next)
  exchange(next, left, right);
#pragma omp target update to(next[0 : 1]) depend(inout : next[0]) nowait
#pragma omp target update to(next[kCells + 1 : 1]) depend(inout : next[kCells + 1]) nowait
}

// In one write, as other ranks print, too.
static void print_line(int rank, int good, const int* all, int count) {
  char line[1024];
  int length = snprintf(line, sizeof line, "rank %d (%d) good %d by", rank, getpid(), good);
  for (int i = 0; i < count; ++i) {
    int is_new = 1;
    for (int k = 0; k < i; ++k) is_new = is_new && all[k] != all[i];
    if (is_new) length += snprintf(line + length, sizeof line - length, " %d", all[i]);
  }
  line[length++] = '\n';
  fflush(stdout);
  if (write(STDOUT_FILENO, line, length) != length) abort();
}

int main(int count, char** arguments) {
  int rank, size, given, good;
  MPI_Init_thread(&count, &arguments, MPI_THREAD_MULTIPLE, &given);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  good = given == MPI_THREAD_MULTIPLE;
  int all = size * kCells, left = (rank + size - 1) % size, right = (rank + 1) % size;
  long* ring = malloc(all * sizeof *ring);
  for (int i = 0; i < all; ++i) ring[i] = i * 7919L % kModulus;
  for (int i = 0; i < kCells + 2; ++i) cells[0][i] = ring[(rank * kCells + i - 1 + all) % all];
#pragma omp target enter data map(to : cells, processes)
#pragma omp parallel
#pragma omp single
  for (int step = 0; step < kSteps; ++step) create_step(step, left, right);
#pragma omp target exit data map(from : cells, processes)
  compute_alone(ring, all);
  for (int i = 0; i < kCells; ++i) good = good && cells[kSteps % 2][1 + i] == ring[rank * kCells + i];
  print_line(rank, good, processes, kBlocks * kSteps);
  free(ring);
  MPI_Finalize();
  return 0;
}
