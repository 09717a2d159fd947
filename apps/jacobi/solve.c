/* SPDX-License-Identifier: Apache-2.0
 *
 * See solve.h. Iteration k is made of tasks:
 *
 *   send(n), recv(n)   rows of iterate k - 1        in edge block, k - 1           out neighbour's row, k - 1
 *   block(b)           u, and its largest residual  in b - 1, b, b + 1 of k - 1    out b of k
 *   verdict            maximum over all ranks       in all b of k                  inout judged
 *
 * Only the form `speculative` has verdicts; the others wait, and test outside of tasks. A verdict comes after all
 * receives of its iteration, as marline_mpi_speculation_stop demands: after the blocks, hence after the rows. Verdicts
 * come one after the other, on a communicator of their own: no test has begun that does not count.
 *
 * The result of k stays until its verdict: with n planes, iteration k + n is the first to overwrite it, and waits for
 * the verdict as for every task that reads plane k. Each kind of task has a function of its own, so that the code
 * address which a tool sees names it. All are untied, and keep nothing thread-local across a call.
 */
#include "solve.h"

#include <math.h>
#include <mpi.h>
#include <stdlib.h>

#include "exchange.h"

enum { kTurns = kMostAhead + 3 };

typedef struct {
  const Solver* solver;
  const Grid* grid;
  double enough;
  Outcome* outcome;
  long blocks_run; /* atomic */
  marline_mpi_speculation_t* scope;
  char judged;
  char turn[kTurns]; /* dependences: the verdict of iteration k is turn[k % kTurns] */
} Solve;

/* The bodies ------------------------------------------------------------------------------------------------------ */

static double* residuals_of(const Solver* solver, int k) {
  return solver->residuals + (size_t)(k % solver->kept) * (size_t)solver->grid->blocks;
}

static void run_block(Solve* solve, int k, int block) {
  residuals_of(solve->solver, k)[block - 1] = grid_compute(solve->grid, k, block);
#pragma omp atomic
  ++solve->blocks_run;
}

static double largest_of(const double* numbers, int count) {
  double largest = 0;
  for (int i = 0; i < count; ++i) {
    largest = fmax(largest, numbers[i]);
  }
  return largest;
}

/* Tests iteration k, and looks which of those since the last test would have been enough. All ranks decide alike: they
 * have the same maxima. */
static bool has_converged(const Solve* solve, int k) {
  const Solver* solver = solve->solver;
  const int every = solver->options->every;
  const int count = (k - 1) % every + 1, first = k - count + 1;
  double *mine = solver->tested, *all = solver->tested + every;
  for (int i = 0; i < count; ++i) {
    mine[i] = largest_of(residuals_of(solver, first + i), solve->grid->blocks);
  }
  MPI_Allreduce(mine, all, count, MPI_DOUBLE, MPI_MAX, solver->judges);
  if (!(all[count - 1] <= solve->enough)) {
    return false;
  }
  int enough = 0;
  while (!(all[enough] <= solve->enough)) {
    ++enough;
  }
  solve->outcome->iterations = k;
  solve->outcome->needed = first + enough;
  solve->outcome->residual = all[count - 1];
  return true;
}

static void run_verdict(Solve* solve, int k) {
  if (has_converged(solve, k)) {
    solve->solver->entries.speculation_stop(solve->scope);
  }
}

/* Their creation -------------------------------------------------------------------------------------------------- */

static double* message_block(const Grid* grid, int iterate, const Message* message) {
  const int edge = message->upper ? 1 : grid->blocks;
  const int beyond = message->upper ? 0 : grid->blocks + 1;
  return grid_block(grid, iterate, message->sends ? edge : beyond);
}

__attribute__((noinline)) static void task_send(const Solver* solver, int iterate, const Message* message) {
  const double* row = grid_edge(solver->grid, iterate, message->upper);
  const int columns = solver->grid->columns, to = message->neighbour, tag = message->tag;
#pragma omp task untied firstprivate(solver, row, columns, to, tag) priority(1) \
    depend(in : message_block(solver -> grid, iterate, message)[0])
  MPI_Send(row, columns, MPI_DOUBLE, to, tag, solver->halos);
}

__attribute__((noinline)) static void task_recv(const Solver* solver, int iterate, const Message* message) {
  double* row = grid_halo(solver->grid, iterate, message->upper);
  const int columns = solver->grid->columns, from = message->neighbour, tag = message->tag;
#pragma omp task untied firstprivate(solver, row, columns, from, tag) priority(1) \
    depend(out : message_block(solver -> grid, iterate, message)[0])
  MPI_Recv(row, columns, MPI_DOUBLE, from, tag, solver->halos, MPI_STATUS_IGNORE);
}

/* What a block is made of, and where it goes. */
#define NEEDS(grid, k, block) \
  grid_block(grid, k - 1, block - 1)[0], grid_block(grid, k - 1, block)[0], grid_block(grid, k - 1, block + 1)[0]
#define MAKES(grid, k, block) grid_block(grid, k, block)[0]

__attribute__((noinline)) static void task_edge(Solve* solve, const Grid* grid, int k, int block) {
#pragma omp task untied default(none) firstprivate(solve, k, block) priority(1) depend(in : NEEDS(grid, k, block)) \
    depend(out : MAKES(grid, k, block))
  run_block(solve, k, block);
}

__attribute__((noinline)) static void task_inside(Solve* solve, const Grid* grid, int k, int block) {
#pragma omp task untied default(none) firstprivate(solve, k, block) depend(in : NEEDS(grid, k, block)) \
    depend(out : MAKES(grid, k, block))
  run_block(solve, k, block);
}

__attribute__((noinline)) static void task_verdict(Solve* solve, const Grid* grid, int k) {
#pragma omp task untied default(none) firstprivate(solve, k) priority(1)                                         \
    depend(iterator(int b = 1 : grid->blocks + 1), in : grid_block(grid, k, b)[0]) depend(inout : solve->judged) \
    depend(out : solve->turn[k % kTurns])
  run_verdict(solve, k);
}

static void create_iteration(Solve* solve, int k) {
  const Solver* solver = solve->solver;
  const Grid* grid = solve->grid;
  Message messages[kMostMessages];
  const int count = exchange_messages(solver->job->ranks, solver->job->rank, grid->planes, k - 1, messages);
  for (int i = 0; i < count; ++i) {
    (messages[i].sends ? task_send : task_recv)(solver, k - 1, &messages[i]);
  }
  for (int block = 1; block <= grid->blocks; ++block) {
    (block == 1 || block == grid->blocks ? task_edge : task_inside)(solve, grid, k, block);
  }
}

/* The forms ------------------------------------------------------------------------------------------------------- */

static void run_checking(Solve* solve) {
  const Options* options = solve->solver->options;
  for (int k = 1; k <= options->iterations; ++k) {
    create_iteration(solve, k);
    if (k % options->every == 0 || k == options->iterations) {
#pragma omp taskwait
      if (has_converged(solve, k)) {
        return;
      }
    }
  }
}

/* Creates one iteration more than can run, so that there is always one. */
static void run_ahead(Solve* solve) {
  for (int k = 1; k <= solve->solver->options->iterations && !solve->solver->entries.taskgroup_cancelled(); ++k) {
    create_iteration(solve, k);
    task_verdict(solve, solve->grid, k);
    const int overwritten = k - solve->grid->planes;
    if (overwritten > 0) {
#pragma omp taskwait depend(in : solve->turn[overwritten % kTurns])
    }
  }
}

static void iterate(Solve* solve) {
  const Solver* solver = solve->solver;
  const bool speculates = solver->options->form == kFormSpeculative;
  marline_mpi_speculation_counts_t* counts = &solve->outcome->counts;
  if (!speculates) {
#pragma omp parallel default(none) shared(solve)
#pragma omp single
    run_checking(solve);
    return;
  }
  solve->scope = solver->entries.speculation_begin(solver->halos);
#pragma omp parallel default(none) shared(solve)
#pragma omp single
#pragma omp taskgroup
  run_ahead(solve);
  solver->entries.speculation_end(solve->scope, counts);
}

/* Sums over the ranks. A message that is still on the communicator now is an error of a library or of this program. */
static void count(const Solver* solver, const Solve* solve, double seconds) {
  Outcome* outcome = solve->outcome;
  marline_mpi_speculation_counts_t* counts = &outcome->counts;
  int left = 0;
  MPI_Allreduce(&seconds, &outcome->seconds, 1, MPI_DOUBLE, MPI_MAX, solver->judges);
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, solver->halos, &left, MPI_STATUS_IGNORE);
  unsigned long long here[6] = {counts->sent,    counts->received, counts->withdrawn,
                                counts->drained, (unsigned)left,   (unsigned long long)solve->blocks_run};
  unsigned long long all[6];
  MPI_Allreduce(here, all, 6, MPI_UNSIGNED_LONG_LONG, MPI_SUM, solver->judges);
  *counts =
      (marline_mpi_speculation_counts_t){.sent = all[0], .received = all[1], .withdrawn = all[2], .drained = all[3]};
  outcome->left = all[4];
  outcome->ran = (double)all[5] / solver->grid->blocks / solver->job->ranks;
}

void solver_run(const Solver* solver, double enough, Outcome* outcome) {
  *outcome = (Outcome){0};
  Solve solve = {.solver = solver, .grid = solver->grid, .enough = enough, .outcome = outcome};
  MPI_Barrier(solver->judges);
  const double start = MPI_Wtime();
  iterate(&solve);
  count(solver, &solve, MPI_Wtime() - start);
}

bool solver_create(Solver* solver, const Job* job, const Options* options, const Grid* grid) {
  *solver = (Solver){.job = job, .options = options, .grid = grid, .entries = entries_find()};
  solver->kept = options->every > grid->planes ? options->every : grid->planes;
  solver->residuals = malloc((size_t)solver->kept * (size_t)grid->blocks * sizeof(double));
  solver->tested = malloc(2 * (size_t)options->every * sizeof(double));
  MPI_Comm_dup(MPI_COMM_WORLD, &solver->halos);
  MPI_Comm_dup(MPI_COMM_WORLD, &solver->judges);
  return solver->residuals && solver->tested;
}

void solver_destroy(Solver* solver) {
  MPI_Comm_free(&solver->halos);
  MPI_Comm_free(&solver->judges);
  free(solver->residuals);
  free(solver->tested);
}
