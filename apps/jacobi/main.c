/* SPDX-License-Identifier: Apache-2.0
 *
 * Jacobi's iteration with a test that ends it. This file is the course of a run; after each step that can fail the
 * processes agree (common/job.h) whether to go on. Main thread only.
 */
#include <mpi.h>

#include "report.h"

typedef struct {
  Job job;
  Options options;
  Grid grid;
  Solver solver;
  Totals totals;
} Run;

static void check_runtime(const Run* run, Failure* failure) {
  const Entries entries = entries_find();
  if (run->options.form == kFormSpeculative && !entries_have_speculation(&entries)) {
    failure_note(failure, kExitInput,
                 "--form speculative needs marline_mpi_speculation_begin, which this process does not have: start the "
                 "program with `marline run`, or take --form check-every");
  }
}

static int solve(Run* run, int number) {
  Failure failure = {0};
  Outcome outcome;
  double first = grid_start(&run->grid, run->options.seed + number - 1);
  MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  const double enough = run->options.tolerance * first;
  solver_run(&run->solver, enough, &outcome);
  if (outcome.iterations == 0) {
    failure_note(&failure, kExitWrong, "the residual is still above %.3e after %d iterations", enough,
                 run->options.iterations);
    return job_agree(&run->job, &failure);
  }
  const Check check = verify_result(&run->solver, outcome.iterations);
  verify_judge(&check, &outcome, enough, first, &failure);
  if (run->job.rank == 0) {
    report_solve(number, &outcome, &check);
  }
  run->totals.seconds += outcome.seconds;
  run->totals.iterations += outcome.iterations;
  run->totals.wasted += outcome.ran - outcome.needed;
  run->totals.withdrawn += outcome.counts.withdrawn;
  run->totals.drained += outcome.counts.drained;
  return job_agree(&run->job, &failure);
}

static int solve_all(Run* run) {
  int code = 0;
  if (run->job.rank == 0) {
    report_remarks(&run->job, &run->options);
  }
  for (int number = 1; code == 0 && number <= run->options.solves; ++number) {
    code = solve(run, number);
  }
  if (code == 0 && run->job.rank == 0) {
    report_figures(&run->options, &run->totals);
  }
  return code;
}

static int prepare_and_solve(Run* run) {
  Failure failure = {0};
  const bool grid = grid_create(&run->grid, &run->options, run->job.ranks, run->job.rank);
  const bool solver = solver_create(&run->solver, &run->job, &run->options, &run->grid);
  if (!grid || !solver) {
    failure_note(&failure, kExitInput, "not enough memory for %d planes of %d x %d numbers, and %d blocks",
                 run->grid.planes, run->grid.rows, run->grid.columns, run->grid.blocks);
  }
  int code = job_agree(&run->job, &failure);
  code = code != 0 ? code : solve_all(run);
  solver_destroy(&run->solver);
  grid_destroy(&run->grid);
  return code;
}

static int execute(Run* run, int argc, char** argv) {
  Failure failure = {0};
  options_parse(&run->options, run->job.ranks, argc, argv, &failure);
  check_runtime(run, &failure);
  job_check_thread_support(&run->job, &failure);
  int code;
  if (!job_goes_on(&run->job, &failure, run->options.help, options_print_usage, &code)) {
    return code;
  }
  return prepare_and_solve(run);
}

int main(int argc, char** argv) {
  Run run = {.job = job_start("jacobi", &argc, &argv)};
  const int code = execute(&run, argc, argv);
  MPI_Finalize();
  return code;
}
