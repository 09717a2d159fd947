// SPDX-License-Identifier: Apache-2.0
// Heat on a plate whose rows are divided among MPI ranks. Each rank's rows stay in the memory of its GPU, and the rows at
// the border go from GPU to GPU: a GPU-aware MPI gets their device addresses. Dependences give the order of kernels and
// messages; while a message or a kernel is under way, no thread waits for it.
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { kColumns = 256, kAllRows = 96, kSteps = 20 };

// Rows `first` to `last` of the next step.
#define SMOOTH(to, from, first, last)                                                                 \
  for (int r = first; r <= last; ++r) {                                                               \
    for (int c = 1; c < kColumns - 1; ++c) {                                                          \
      const double *at = (from) + (size_t)r * kColumns + c;                                           \
      (to)[(size_t)r * kColumns + c] = (at[-1] + at[1] + at[-kColumns] + at[kColumns]) / 4;           \
    }                                                                                                 \
  }

// Step s of a rank with rows 1 to `rows`, and its neighbours' rows 0 and rows + 1. The device's addresses stand for the
// rows in the depend clauses: row 2 for all between the first and the last. Each message has a tag of its own.
static void step(int s, double *to, double *from, int rows, int above, int below) {
  const int up = 2 * s, down = 2 * s + 1;
  double *top = from, *first = from + kColumns, *inner = from + 2 * kColumns;
  double *last = from + (size_t)rows * kColumns, *bottom = last + kColumns;
  double *new_first = to + kColumns, *new_inner = to + 2 * kColumns, *new_last = to + (size_t)rows * kColumns;

#pragma omp task depend(out : top[0])
  MPI_Recv(top, kColumns, MPI_DOUBLE, above, down, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#pragma omp task depend(out : bottom[0])
  MPI_Recv(bottom, kColumns, MPI_DOUBLE, below, up, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#pragma omp task depend(in : first[0])
  MPI_Send(first, kColumns, MPI_DOUBLE, above, up, MPI_COMM_WORLD);
#pragma omp task depend(in : last[0])
  MPI_Send(last, kColumns, MPI_DOUBLE, below, down, MPI_COMM_WORLD);

#pragma omp target teams distribute parallel for nowait is_device_ptr(to, from) \
    depend(in : first[0], inner[0], last[0]) depend(out : new_inner[0])
  SMOOTH(to, from, 2, rows - 1)
#pragma omp target teams distribute parallel for nowait is_device_ptr(to, from) \
    depend(in : top[0], first[0], inner[0]) depend(out : new_first[0])
  SMOOTH(to, from, 1, 1)
#pragma omp target teams distribute parallel for nowait is_device_ptr(to, from) \
    depend(in : inner[0], last[0], bottom[0]) depend(out : new_last[0])
  SMOOTH(to, from, rows, rows)
}

static double sum_of(const double *plate, int rows) {
  double sum = 0, all = 0;
#pragma omp target teams distribute parallel for is_device_ptr(plate) map(tofrom : sum) reduction(+ : sum)
  for (int i = kColumns; i < (rows + 1) * kColumns; ++i) sum += plate[i];
  MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  return all;
}

int main(int argc, char **argv) {
  int provided, rank, ranks;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int rows = kAllRows / ranks, device = omp_get_default_device();
  const int above = rank > 0 ? rank - 1 : MPI_PROC_NULL, below = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL;

  double *plates[2];
  for (int p = 0; p < 2; ++p) {
    double *plate = plates[p] = omp_target_alloc(sizeof(double) * kColumns * (size_t)(rows + 2), device);
    if (plate == NULL) {
      fprintf(stderr, "gpu_halo: device %d has no memory for %d rows\n", device, rows + 2);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    // The rim of the whole plate stays at 100 degrees: rows 0 and rows + 1 of the outer ranks, and the outer columns.
#pragma omp target teams distribute parallel for is_device_ptr(plate)
    for (int i = 0; i < (rows + 2) * kColumns; ++i) {
      const int r = i / kColumns, c = i % kColumns;
      const int rim = c == 0 || c == kColumns - 1 || (rank == 0 && r == 0) || (rank == ranks - 1 && r == rows + 1);
      plate[i] = rim ? 100 : 0;
    }
  }

#pragma omp parallel
#pragma omp single
  for (int s = 0; s < kSteps; ++s) step(s, plates[(s + 1) % 2], plates[s % 2], rows, above, below);

  const double heat = sum_of(plates[kSteps % 2], rows);
  if (rank == 0) printf("heat %.3f\n", heat);
  for (int p = 0; p < 2; ++p) omp_target_free(plates[p], device);
  MPI_Finalize();
}
