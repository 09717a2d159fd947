/* SPDX-License-Identifier: Apache-2.0
 *
 * Jacobi's iteration with MPI processes and OpenMP threads. This file is the course of a run; after each step that can
 * fail the processes agree (common/failure.h) whether to go on. Main thread only.
 */
#include <mpi.h>

#include "forms.h"
#include "grid.h"
#include "job.h"
#include "options.h"
#include "report.h"
#include "verify.h"

typedef struct {
  Job job;
  Options options;
  Grid grid;
} Run;

static void (*const kRun[kForms])(const Work *) = {loops_run, tasks_run, detach_run};

/* The poller is one more thread that calls MPI. */
static void check_thread_support(const Run *run, Failure *failure) {
  Job job = run->job;
  job.threads += run->options.form == kFormDetach;
  job_check_thread_support(&job, failure);
}

/* The time of the slowest process. */
static double timed(const Run *run) {
  const Work work = {&run->grid, run->job.ranks, run->job.rank, run->options.iterations};
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  kRun[run->options.form](&work);
  double seconds = MPI_Wtime() - start;
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return seconds;
}

static int judge(const Run *run, const Report *report) {
  Failure failure = {0};
  if (!report_passed(report)) {
    failure_note(&failure, kExitWrong, "a number is wrong by %.3e; rounding explains %.3e", report->error,
                 report->tolerance);
  }
  return job_agree(&run->job, &failure);
}

static int iterate(Run *run) {
  Report report = {.job = &run->job, .options = &run->options, .tolerance = verify_tolerance(run->options.iterations)};
  report.seconds = timed(run);
  report.error = verify_error(&run->grid, run->options.iterations);
  MPI_Allreduce(MPI_IN_PLACE, &report.error, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  if (run->job.rank == 0) {
    report_remarks(&report);
  }
  const int code = judge(run, &report);
  if (code == 0 && run->job.rank == 0) {
    report_figures(&report);
  }
  return code;
}

static int prepare(Run *run) {
  Failure failure = {0};
  if (!grid_create(&run->grid, &run->options, run->job.ranks, run->job.rank)) {
    failure_note(&failure, kExitInput, "not enough memory for %d x %d numbers per rank", run->options.rows,
                 run->options.columns);
  }
  return job_agree(&run->job, &failure);
}

static int execute(Run *run, int argc, char **argv) {
  Failure failure = {0};
  options_parse(&run->options, argc, argv, &failure);
  check_thread_support(run, &failure);
  int code = job_agree(&run->job, &failure);
  if (code == 0 && run->options.help) {
    if (run->job.rank == 0) {
      options_print_usage();
    }
    return 0;
  }
  if (code == 0) {
    code = prepare(run);
  }
  return code != 0 ? code : iterate(run);
}

int main(int argc, char **argv) {
  Run run = {.job = job_start("halo", &argc, &argv)};
  const int code = execute(&run, argc, argv);
  grid_destroy(&run.grid);
  MPI_Finalize();
  return code;
}
