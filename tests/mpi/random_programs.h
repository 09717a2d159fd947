/* SPDX-License-Identifier: Apache-2.0
 *
 * The frame of test programs that run random programs: the random numbers of a program, and the loop over the seeds. A
 * program that takes longer than kPatience seconds counts as hung, and its seed is printed.
 */
#ifndef MARLINE_TESTS_MPI_RANDOM_PROGRAMS_H
#define MARLINE_TESTS_MPI_RANDOM_PROGRAMS_H

#include <signal.h>

#include "support.h"

enum { kPatience = 40 };

static unsigned seed; /* of the present program */

/* A random number of the program's, the same on all ranks. */
static inline unsigned mix(unsigned what) {
  unsigned x = (what + 1) * 2654435761u ^ seed * 40503u;
  x ^= x >> 15;
  x *= 2246822519u;
  x ^= x >> 13;
  return x * 3266489917u >> 8;
}

static inline void hangs(int signal) {
  (void)signal;
  fprintf(stderr, "rank %d: FAILED: the program with seed %u hangs\n", world_rank, seed);
  _exit(1);
}

/* The arguments: SEED PROGRAMS, for the programs with the seeds SEED, SEED + 1, ... */
static inline void run_programs(char** argv, void (*run_program)(void)) {
  const unsigned first = (unsigned)atoi(argv[1]), programs = (unsigned)atoi(argv[2]);
  signal(SIGALRM, hangs);
  for (seed = first; seed < first + programs; ++seed) {
    alarm(kPatience);
    run_program();
  }
  alarm(0);
}

#endif
