/* SPDX-License-Identifier: Apache-2.0
 *
 * The iterations, and the tests that end them. Called by the main thread of each rank, outside of any parallel region.
 */
#ifndef JACOBI_SOLVE_H
#define JACOBI_SOLVE_H

#include "entries.h"
#include "grid.h"
#include "job.h"
#include "options.h"

/* What all solves of a run share. */
typedef struct {
  const Job* job;
  const Options* options;
  const Grid* grid;
  Entries entries;
  MPI_Comm halos;    /* the rows; of later iterations, too, when a test holds */
  MPI_Comm judges;   /* the tests */
  double* residuals; /* of each block, for the iterations since the last test */
  int kept;          /* iterations that have a place there */
  double* tested;    /* `every` largest elements: this rank's, then all ranks' */
} Solver;

/* The same on all ranks, except where it says so. */
typedef struct {
  int iterations;  /* the number of the iterate that is the result; 0: no test held */
  int needed;      /* the first iteration whose residual was small enough: no later one if every iteration is tested */
  double residual; /* of the iterate before the result */
  double seconds;  /* of the slowest rank */
  double ran;      /* iterations, counted by blocks, over all ranks */
  marline_mpi_speculation_counts_t counts; /* sums over the ranks */
  unsigned long long left;                 /* ranks that have a message left over */
} Outcome;

/* Collective. False if memory does not suffice on this rank. */
bool solver_create(Solver* solver, const Job* job, const Options* options, const Grid* grid);
void solver_destroy(Solver* solver);

/* Collective: iterates from iterate 0 until the largest element of the residual is at most `enough`. */
void solver_run(const Solver* solver, double enough, Outcome* outcome);

#endif
