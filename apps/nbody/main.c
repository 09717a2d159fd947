/* SPDX-License-Identifier: Apache-2.0
 *
 * Gravity between all pairs of bodies with MPI processes, OpenMP threads and dependent tasks, some of which call plain
 * blocking MPI. This file is the course of a run. Each step is collective, and what can go wrong is known to all
 * processes alike: rank 0 prints one line, and all leave with the same exit status. Everything here runs on the main
 * thread.
 */
#include <limits.h>
#include <mpi.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#include <stdarg.h>
#include <stdio.h>

#include "bodies.h"
#include "check.h"
#include "labels.h"
#include "layout.h"
#include "options.h"
#include "report.h"
#include "ring.h"
#include "simulate.h"

/* Exit statuses. */
enum {
  kExitWrong = 1, /* the result is wrong */
  kExitInput = 2, /* options, memory, or libraries that do not serve */
};

typedef struct {
  int ranks;
  int rank;
  int threads;
  int thread_support;
} Job;

/* Everything that a run holds; destroyed in one place however it ends. */
typedef struct {
  Job job;
  Options options;
  Layout layout;
  Bodies bodies;
  Labels labels;
  Ring ring;
} Run;

/* Called by all processes with the same failure. */
__attribute__((format(printf, 3, 4))) static int fail(const Job *job, int code, const char *format, ...) {
  if (job->rank == 0) {
    va_list arguments;
    va_start(arguments, format);
    fputs("nbody: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    fflush(stderr);
  }
  return code;
}

static Job start_mpi(int *argc, char ***argv) {
  Job job = {.threads = 1};
#ifdef _OPENMP
  job.threads = omp_get_max_threads();
#endif
  MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &job.thread_support);
  MPI_Comm_size(MPI_COMM_WORLD, &job.ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
  return job;
}

/* What every process finds alike, without asking the others. */
static int check_environment(const Run *run) {
  const Job *job = &run->job;
  if (run->options.mistake[0] != '\0') {
    return fail(job, kExitInput, "%s", run->options.mistake);
  }
  if (job->threads > 1 && job->thread_support < MPI_THREAD_MULTIPLE) {
    return fail(job, kExitInput,
                "this MPI library does not provide MPI_THREAD_MULTIPLE, which %d threads need; set OMP_NUM_THREADS=1",
                job->threads);
  }
  return 0;
}

static int check_tags(const Run *run) {
  int *upper_bound = NULL;
  int found = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &upper_bound, &found);
  int bound = found ? *upper_bound : SHRT_MAX; /* the least that MPI guarantees, MPI 4.0 section 9.1.2 */
  long long tag = ring_largest_tag(&run->layout);
  if (tag > bound) {
    return fail(&run->job, kExitInput, "blocks of %d need message tags up to %lld, this MPI has %d; use larger blocks",
                run->layout.block, tag, bound);
  }
  return 0;
}

static int prepare(Run *run) {
  const Options *options = &run->options;
  run->layout = layout_make(options->bodies, options->block, options->imbalance, run->job.ranks, run->job.rank);
  int code = check_tags(run);
  if (code != 0) {
    return code;
  }
  int room = bodies_create(&run->bodies, &run->layout) &&
             (!options->labels || labels_create(&run->labels, run->job.ranks)) &&
             ring_create(&run->ring, &run->bodies, &run->labels);
  MPI_Allreduce(MPI_IN_PLACE, &room, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (!room) {
    return fail(&run->job, kExitInput, "not enough memory for %d bodies in blocks of %d", options->bodies,
                options->block);
  }
  return 0;
}

/* The time of the slowest process. */
static double timed_steps(const Simulation *simulation, int steps) {
  MPI_Barrier(MPI_COMM_WORLD);
  double start = MPI_Wtime();
  simulate_steps(simulation, steps);
  double seconds = MPI_Wtime() - start;
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return seconds;
}

/* Written so that a result which is not a number fails. */
static int judge(const Run *run, const Report *report) {
  const Options *options = &run->options;
  double rounding = check_momentum_tolerance(&report->after, options->bodies, options->steps);
  if (!(report->momentum_change <= rounding)) {
    return fail(&run->job, kExitWrong, "the momentum changed by %.3e; rounding explains %.3e", report->momentum_change,
                rounding);
  }
  double drift = check_energy_tolerance(options->bodies, options->dt);
  if (!(report->energy_drift <= drift)) {
    return fail(&run->job, kExitWrong, "the energy changed by a part of %.3e; steps of %g explain %.3e",
                report->energy_drift, options->dt, drift);
  }
  if (report->compared && report->difference < 0) {
    return fail(&run->job, kExitInput, "not enough memory for a serial simulation of %d bodies; leave --verify out",
                options->bodies);
  }
  if (report->compared && !(report->difference <= kLargestDifference)) {
    return fail(&run->job, kExitWrong, "a body differs by %.3e from the serial simulation, by more than %g",
                report->difference, kLargestDifference);
  }
  return 0;
}

static int simulate(Run *run) {
  const Options *options = &run->options;
  Report report = {.options = options,
                   .layout = &run->layout,
                   .threads = run->job.threads,
                   .softening = check_softening(options->bodies),
                   .compared = options->verify};
  Simulation simulation = {&run->bodies, &run->ring, &run->labels, report.softening, options->dt};
  bodies_fill(&run->bodies, options->seed);
  simulate_forces(&simulation);
  report.before = check_totals(&run->bodies, report.softening);
  report.seconds = timed_steps(&simulation, options->steps);
  report.after = check_totals(&run->bodies, report.softening);
  report.momentum_change = check_momentum_change(&report.before, &report.after);
  report.energy_drift = check_energy_drift(&report.before, &report.after);
  if (options->verify) {
    report.difference = check_difference(&run->bodies, options->seed, report.softening, options->dt, options->steps);
  }
  if (run->job.rank == 0) {
    report_remarks(&report);
  }
  int code = judge(run, &report);
  if (code == 0 && run->job.rank == 0) {
    report_figures(&report);
  }
  return code;
}

static int execute(Run *run, int argc, char **argv) {
  options_parse(&run->options, argc, argv);
  int code = check_environment(run);
  if (code == 0 && run->options.help) {
    if (run->job.rank == 0) {
      options_print_usage();
    }
    return 0;
  }
  if (code == 0) {
    code = prepare(run);
  }
  return code != 0 ? code : simulate(run);
}

int main(int argc, char **argv) {
  Run run = {.job = start_mpi(&argc, &argv)};
  int code = execute(&run, argc, argv);
  ring_destroy(&run.ring);
  labels_destroy(&run.labels);
  bodies_destroy(&run.bodies);
  MPI_Finalize();
  return code;
}
