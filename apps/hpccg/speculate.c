/* SPDX-License-Identifier: Apache-2.0
 *
 * See speculate.h. Adds two kinds of task to each iteration:
 *
 *   copy(t)    x(t), and the largest element of r(t)       in x(t) r(t)               out copy(k, t)
 *   verdict    maximum over all processes                  in copy(k, all t)          inout judged
 *
 * The verdict comes after all messages and sums of its iteration: after all updates, these after alpha, that after all
 * products, hence all receives. (Beta's sum is not among them, but it is asked for by name.) Verdicts have a
 * communicator of their own, as sums of later iterations are under way meanwhile.
 */
#include "speculate.h"

#include <math.h>
#include <mpi.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  Plan* plan;
  int ahead;
  double enough;   /* largest element of r at which to stop */
  double* copies;  /* of x: `ahead` vectors */
  double* largest; /* of r: `ahead` times a tile's each */
  MPI_Comm judges;
  marline_mpi_speculation_t* scope;
  int last;   /* the iteration that was the last; 0: not known */
  int broken; /* that one met a direction p with (p, A p) not above 0 */
  char judged;
} Speculation;

static double largest_of(const double* r, int first, int last) {
  double largest = 0;
  for (int i = first; i < last; ++i) {
    largest = fmax(largest, fabs(r[i]));
  }
  return largest;
}

static double* copy_of(const Speculation* of, int k) {
  return of->copies + (size_t)(k % of->ahead) * (size_t)of->plan->solver->matrix->rows;
}

static double* largest_in(const Speculation* of, int k) {
  return of->largest + (size_t)(k % of->ahead) * (size_t)of->plan->tiling.tiles;
}

static void run_copy(Speculation* of, int k, int tile) {
  const Solver* solver = of->plan->solver;
  int first = plan_tile_first(of->plan, tile);
  int last = plan_tile_first(of->plan, tile + 1);
  memcpy(copy_of(of, k) + first, solver->x + first, (size_t)(last - first) * sizeof(double));
  largest_in(of, k)[tile] = largest_of(solver->r, first, last);
}

/* All processes decide alike: maxima over all of them are the same everywhere. */
static void run_verdict(Speculation* of, int k) {
  double mine[2] = {0, solver_state(of->plan->solver) == kSolverBroken};
  double all[2];
  for (int tile = 0; tile < of->plan->tiling.tiles; ++tile) {
    mine[0] = fmax(mine[0], largest_in(of, k)[tile]);
  }
  MPI_Allreduce(mine, all, 2, MPI_DOUBLE, MPI_MAX, of->judges);
  if (all[0] <= of->enough || all[1] > 0) {
    of->last = k;
    of->broken = all[0] > of->enough;
    of->plan->entries->speculation_stop(of->scope);
  }
}

__attribute__((noinline)) static void task_copy(Speculation* of, int k, int tile) {
  const Solver* solver = of->plan->solver;
  int first = plan_tile_first(of->plan, tile);
  const double* x = solver->x + first;
  const double* r = solver->r + first;
  double* largest = largest_in(of, k) + tile;
  (void)x, (void)r, (void)largest; /* GCC does not count a depend clause as a use */
#pragma omp task untied default(none) firstprivate(of, k, tile) depend(in : *x, *r) depend(out : *largest)
  run_copy(of, k, tile);
}

__attribute__((noinline)) static void task_verdict(Speculation* of, int k) {
  double* largest = largest_in(of, k);
  int tiles = of->plan->tiling.tiles;
  const double* beta = &of->plan->solver->beta;
  (void)largest, (void)tiles, (void)beta;
#pragma omp task untied default(none) firstprivate(of, k) depend(iterator(int t = 0 : tiles), in : largest[t]) \
    depend(in : *beta) depend(inout : of->judged)
  run_verdict(of, k);
}

static void create_all(Speculation* of, TaskFigures* figures) {
  Plan* plan = of->plan;
  for (int k = 1; k <= plan->solver->limit && !plan->entries->taskgroup_cancelled(); ++k) {
    double start = omp_get_wtime();
    tasks_create_iteration(plan, false);
    for (int tile = 0; tile < plan->tiling.tiles; ++tile) {
      task_copy(of, k, tile);
    }
    task_verdict(of, k);
    figures->discovery += omp_get_wtime() - start;
    figures->created += plan_tasks(plan) + plan->tiling.tiles + 1;
  }
}

/* Sums over all processes; what is left on the communicator now was left by somebody's mistake. */
static SpeculationFigures count(const marline_mpi_speculation_counts_t* mine) {
  unsigned long long here[7] = {mine->sent,    mine->received, mine->withdrawn,
                                mine->drained, mine->refused,  mine->completed};
  unsigned long long all[7];
  int left = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &left, MPI_STATUS_IGNORE);
  here[6] = (unsigned long long)left;
  MPI_Allreduce(here, all, 7, MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
  return (SpeculationFigures){all[0], all[1], all[2], all[3], all[4], all[5], (int)all[6]};
}

/* Later iterations may have met anything: sums that others completed for them, say. */
static void keep_the_last(const Speculation* of) {
  Solver* solver = of->plan->solver;
  if (of->last > 0) {
    memcpy(solver->x, copy_of(of, of->last), (size_t)solver->matrix->rows * sizeof(double));
    solver->iterations = of->last;
    solver->state = of->broken ? kSolverBroken : kSolverConverged;
  }
}

static bool prepare(Speculation* of, double tolerance) {
  const Solver* solver = of->plan->solver;
  size_t copies = (size_t)of->ahead;
  of->copies = malloc((copies * (size_t)solver->matrix->rows + 1) * sizeof *of->copies);
  of->largest = malloc((copies * (size_t)of->plan->tiling.tiles + 1) * sizeof *of->largest);
  double mine[2] = {largest_of(solver->r, 0, solver->matrix->rows), !of->copies || !of->largest};
  double all[2];
  MPI_Allreduce(mine, all, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  of->enough = tolerance * all[0];
  return all[1] == 0;
}

static void solve(Speculation* of, TaskFigures* figures, marline_mpi_speculation_counts_t* counts) {
  const Entries* entries = of->plan->entries;
  marline_counters_t before = tasks_read_counters(entries);
  MPI_Comm_dup(MPI_COMM_WORLD, &of->judges);
  of->scope = entries->speculation_begin(MPI_COMM_WORLD);
#pragma omp parallel default(none) shared(of, figures)
#pragma omp single
#pragma omp taskgroup
  create_all(of, figures);
  entries->speculation_end(of->scope, counts);
  MPI_Comm_free(&of->judges);
  tasks_count_since(figures, &before, entries);
}

bool speculate_solve(Plan* plan, const TaskForm* form, double tolerance, TaskFigures* figures,
                     SpeculationFigures* speculation) {
  Speculation of = {.plan = plan, .ahead = form->ahead};
  bool room = prepare(&of, tolerance);
  if (room) {
    marline_mpi_speculation_counts_t counts;
    solve(&of, figures, &counts);
    *speculation = count(&counts);
    keep_the_last(&of);
  }
  free(of.copies);
  free(of.largest);
  return room;
}

void speculate_check(const Tiling* tiling, const TaskForm* form, bool tolerance, const Entries* entries,
                     Failure* failure) {
  if (form->persistent || form->lag > 0 || form->cancel || !tolerance || tiling->naming == kNamingMinimal) {
    failure_note(failure, kExitInput,
                 "--speculate runs iterations ahead of convergence: it goes with --form tasks and "
                 "--tolerance, and without --lag, --cancel and --dependences minimal");
  }
  if (!entries_have_speculation(entries)) {
    failure_note(failure, kExitInput,
                 "--speculate needs marline_mpi_speculation_begin, which this process does not "
                 "have: start the program with `marline run`, or take --lag");
  }
}

void speculate_judge(const SpeculationFigures* figures, Failure* failure) {
  if (figures->sent != figures->received + figures->drained || figures->leftovers > 0) {
    failure_note(failure, kExitWrong,
                 "later iterations left something: %llu messages sent, %llu received, %llu drained; "
                 "%d processes have some left",
                 figures->sent, figures->received, figures->drained, figures->leftovers);
  }
}
