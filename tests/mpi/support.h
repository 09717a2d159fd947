/* SPDX-License-Identifier: Apache-2.0
 *
 * What the MPI test programs share: a failed expectation ends the whole job with a line that names it. Public OpenMP
 * and MPI only, so that every program also runs without Marline.
 */
#ifndef MARLINE_TESTS_MPI_SUPPORT_H
#define MARLINE_TESTS_MPI_SUPPORT_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int world_rank = -1;
static int world_size = -1;

static inline void expect(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "rank %d: FAILED: %s\n", world_rank, what);
  fflush(stderr);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* MPI for programs whose tasks call it. Without Marline, the program must ask for the thread level. */
static inline void start(int* argc, char*** argv, int ranks) {
  int provided = 0;
  setvbuf(stdout, NULL, _IOLBF, BUFSIZ); /* ranks share a pipe: whole lines only */
  MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  expect(provided == MPI_THREAD_MULTIPLE, "MPI provides MPI_THREAD_MULTIPLE");
  expect(world_size == ranks, "the test runs on the number of ranks that it is written for");
}

/* Resident memory of this process. */
static inline long resident_bytes(void) {
  long pages = -1;
  FILE* file = fopen("/proc/self/statm", "r");
  expect(file != NULL && fscanf(file, "%*d %ld", &pages) == 1, "/proc/self/statm is there");
  fclose(file);
  return pages * sysconf(_SC_PAGESIZE);
}

/* Every rank says that it got here; the runner counts these lines. */
static inline int finish(void) {
  MPI_Finalize();
  printf("rank %d: done\n", world_rank);
  return 0;
}

/* Long enough for the peer to be blocked already: then the call under test takes the way through a suspension. */
static inline void let_peer_block(void) { usleep(3000); }

#endif
