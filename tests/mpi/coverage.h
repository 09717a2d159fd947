/* SPDX-License-Identifier: Apache-2.0
 *
 * What the coverage programs share. On two ranks of one thread each, a task makes the call under test, and the call
 * ends only by a task that the same thread must run in the meantime, on this rank or on the other. A call that holds
 * its thread hangs the program, which then ends by the runner's time limit; the last line on stdout names the call.
 *
 * A program built with large_counts.h (generated, preloaded by -include) makes the same calls with MPI_Count.
 */
#ifndef MARLINE_TESTS_MPI_COVERAGE_H
#define MARLINE_TESTS_MPI_COVERAGE_H

#include "support.h"

#ifdef MARLINE_LARGE_COUNTS
typedef MPI_Count Count;
typedef MPI_Aint Displacement;
#else
typedef int Count;
typedef int Displacement;
#endif

enum { kRelease = 99, kLarge = 1 << 16 }; /* kLarge ints: beyond any eager limit, so that a send needs its receiver */

typedef struct Check {
  const char* name;
  void (*call)(void);
  void (*answer)(void); /* what ends the peer's call; NULL: the call itself, on the other rank */
} Check;

static int peer;

/* What a blocked rank waits for before it goes on: one message. */
static inline void release_peer(void) { MPI_Send(&world_rank, 1, MPI_INT, peer, kRelease, MPI_COMM_WORLD); }

static inline void await_release(void) {
  int from = -1;
  MPI_Recv(&from, 1, MPI_INT, peer, kRelease, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  expect(from == peer, "the peer's release");
}

static inline void announce(const char* name) {
  printf("rank %d: %s\n", world_rank, name);
  fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* Each rank's call ends by the other rank's answer, and both answers come second on their thread. */
static inline void cross(const Check* check) {
  announce(check->name);
#pragma omp parallel num_threads(1)
#pragma omp single
  {
#pragma omp task
    {
#pragma omp task
      check->answer();
      check->call();
    }
  }
}

/* Both ranks make the call: `first` is in it when it sends the message without which the other does not get to it. */
static inline void in_turn(const Check* check, int first) {
  announce(check->name);
#pragma omp parallel num_threads(1)
#pragma omp single
  {
#pragma omp task
    {
      if (world_rank == first) {
#pragma omp task
        release_peer();
      } else {
        await_release();
      }
      check->call();
    }
  }
}

static inline void run_checks(const Check* checks, size_t count) {
  peer = 1 - world_rank;
  for (size_t i = 0; i < count; ++i) {
    if (checks[i].answer != NULL) {
      cross(&checks[i]);
    } else {
      in_turn(&checks[i], 0);
      in_turn(&checks[i], 1);
    }
  }
}

#define RUN_CHECKS(checks) run_checks(checks, sizeof(checks) / sizeof((checks)[0]))

#endif
