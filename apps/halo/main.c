/* SPDX-License-Identifier: Apache-2.0
 *
 * Jacobi's iteration with MPI processes and OpenMP threads. This file is the course of a run; after each step that can
 * fail the processes agree (common/job.h) whether to go on. Main thread only.
 */
#include <mpi.h>
#include <stdlib.h>

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
  int done; /* iterations */
} Run;

static void (*const kRun[kForms])(const Work*) = {loops_run, tasks_run, detach_run};

/* The poller is one more thread that calls MPI. */
static void check_thread_support(const Run* run, Failure* failure) {
  Job job = run->job;
  job.threads += run->options.form == kFormDetach;
  job_check_thread_support(&job, failure);
}

/* All iterations once more. The time of the slowest process. */
static double timed(Run* run) {
  const int first = run->done;
  run->done += run->options.iterations;
  const Work work = {&run->grid, run->job.ranks, run->job.rank, first, run->done};
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  kRun[run->options.form](&work);
  double seconds = MPI_Wtime() - start;
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return seconds;
}

/* Between barriers, so that no message is under way. */
static void switch_tools(int level) {
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Pcontrol(level);
  MPI_Barrier(MPI_COMM_WORLD);
}

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static double median(double* values, int count) {
  qsort(values, (size_t)count, sizeof *values, compare);
  return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

/* Without and with tools by turns, so that both meet the same machine. False if memory does not suffice. */
static bool measure_turns(Run* run, Report* report) {
  const int turns = run->options.turns;
  double* times = calloc(3 * (size_t)turns, sizeof *times);
  if (!times) {
    return false;
  }
  double *without = times, *with = times + turns, *growth = times + 2 * (size_t)turns;
  for (int turn = 0; turn < turns; ++turn) {
    switch_tools(0);
    without[turn] = timed(run);
    switch_tools(1);
    with[turn] = timed(run);
    growth[turn] = with[turn] / without[turn];
  }
  report->without = median(without, turns);
  report->seconds = median(with, turns);
  report->growth = median(growth, turns);
  free(times);
  return true;
}

static int judge(const Run* run, const Report* report) {
  Failure failure = {0};
  if (!report_passed(report)) {
    failure_note(&failure, kExitWrong, "a number is wrong by %.3e; rounding explains %.3e", report->error,
                 report->tolerance);
  }
  return job_agree(&run->job, &failure);
}

static int iterate(Run* run) {
  Report report = {.job = &run->job, .options = &run->options};
  if (run->options.turns == 0) {
    report.seconds = timed(run);
  } else if (!measure_turns(run, &report)) {
    MPI_Abort(MPI_COMM_WORLD, kExitInput);
  }
  report.tolerance = verify_tolerance(run->done);
  report.error = verify_error(&run->grid, run->done);
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

static int prepare(Run* run) {
  Failure failure = {0};
  if (!grid_create(&run->grid, &run->options, run->job.ranks, run->job.rank)) {
    failure_note(&failure, kExitInput, "not enough memory for %d x %d numbers per rank", run->options.rows,
                 run->options.columns);
  }
  return job_agree(&run->job, &failure);
}

static int execute(Run* run, int argc, char** argv) {
  Failure failure = {0};
  options_parse(&run->options, argc, argv, &failure);
  check_thread_support(run, &failure);
  int code;
  if (!job_goes_on(&run->job, &failure, run->options.help, options_print_usage, &code)) {
    return code;
  }
  code = prepare(run);
  return code != 0 ? code : iterate(run);
}

int main(int argc, char** argv) {
  Run run = {.job = job_start("halo", &argc, &argv)};
  const int code = execute(&run, argc, argv);
  grid_destroy(&run.grid);
  MPI_Finalize();
  return code;
}
