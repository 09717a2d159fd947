/* SPDX-License-Identifier: Apache-2.0
 *
 * As many windows as MPI gives, or WINDOWS. Marline must not change how many MPI gives (same_as_plain.sh compares).
 * Tasks use every tenth window at a time: each puts a value under a lock, and in an epoch of fences, in which a helper
 * thread waits. Then windows are made and freed, and no memory may remain. A window's content identifies it. (MPICH 4.0
 * ends the program at window 2046, without Marline, too.)
 *
 * Usage: many_windows WINDOWS
 */
#include "support.h"

/* Whole pages, for MPICH 4.0: see coverage_rma.c. */
enum { kPage = 4096, kUsed = 10, kChain = 600, kWarmUp = 300, kMostGrowth = 1024 * 1024 };

static int most;
static MPI_Win* windows;
static int** contents; /* a page each, two values of which count */

static int allocate(int i) {
  return MPI_Win_allocate(kPage, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &contents[i], &windows[i]);
}

/* All ranks have the same number of windows: if one rank fails to make a window, no rank has it. */
static int make_all(void) {
  for (int i = 0; i < most; ++i) {
    const int error = allocate(i);
    int worst = error, class = MPI_SUCCESS;
    MPI_Allreduce(&error, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (worst == MPI_SUCCESS) continue;
    if (error == MPI_SUCCESS) MPI_Win_free(&windows[i]);
    MPI_Error_class(worst, &class);
    printf("rank %d: no more: class %d\n", world_rank, class);
    return i;
  }
  return most;
}

static void put_under_lock(int i) {
  const int value = 2 * i + world_rank;
  MPI_Win_lock(MPI_LOCK_SHARED, 1 - world_rank, 0, windows[i]);
  MPI_Put(&value, 1, MPI_INT, 1 - world_rank, 0, 1, MPI_INT, windows[i]);
  MPI_Win_unlock(1 - world_rank, windows[i]);
}

static void put_between_fences(int i) {
  const int value = 3 * i + world_rank;
  MPI_Win_fence(0, windows[i]);
  MPI_Put(&value, 1, MPI_INT, 1 - world_rank, 1, 1, MPI_INT, windows[i]);
  MPI_Win_fence(0, windows[i]);
}

static void use(void (*put)(int), int count) {
#pragma omp parallel num_threads(1) /* without Marline, two threads would wait for each other in fences */
#pragma omp single
  for (int i = 0; i < count; i += kUsed) {
#pragma omp task firstprivate(i)
    put(i);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/* Some of the values are lines of the transcript. */
static void check_and_free(int count) {
  const int peer = 1 - world_rank;
  for (int i = 0; i < count; ++i) {
    if (i % kUsed == 0)
      expect(contents[i][0] == 2 * i + peer && contents[i][1] == 3 * i + peer, "what the other rank has put");
    if (i % (10 * kUsed) == 0)
      printf("rank %d: window %d holds %d and %d\n", world_rank, i, contents[i][0], contents[i][1]);
    MPI_Win_free(&windows[i]);
  }
}

static void chain(int links) {
  for (int i = 0; i < links; ++i) {
    expect(allocate(0) == MPI_SUCCESS, "a window after those that were freed");
    MPI_Win_free(&windows[0]);
  }
}

int main(int argc, char** argv) {
  start(&argc, &argv, 2);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  expect(argc == 2, "usage: many_windows WINDOWS");
  most = atoi(argv[1]);
  windows = malloc((size_t)most * sizeof *windows);
  contents = malloc((size_t)most * sizeof *contents);
  expect(windows != NULL && contents != NULL, "memory");
  const int count = make_all();
  printf("rank %d: %d windows\n", world_rank, count);
  use(put_under_lock, count);
  use(put_between_fences, count);
  check_and_free(count);
  chain(kWarmUp);
  const long before = resident_bytes();
  chain(kChain);
  const long growth = resident_bytes() - before;
  fprintf(stderr, "process %d: %d windows: %ld bytes\n", world_rank, kChain, growth);
  expect(growth < kMostGrowth, "nothing remains of windows that are freed");
  return finish();
}
