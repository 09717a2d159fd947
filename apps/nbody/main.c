/* SPDX-License-Identifier: Apache-2.0
 *
 * Gravity between all pairs of bodies with MPI processes, OpenMP threads and dependent tasks, some of which call plain
 * blocking MPI. This file is the course of a run. Each step is collective, and after each step that can
 * fail the processes agree (common/job.h) whether to go on. Everything here runs on the main thread.
 */
#include <mpi.h>

#include "bodies.h"
#include "check.h"
#include "job.h"
#include "labels.h"
#include "layout.h"
#include "options.h"
#include "report.h"
#include "ring.h"
#include "simulate.h"

/* Everything that a run holds; destroyed in one place however it ends. */
typedef struct {
  Job job;
  Options options;
  Layout layout;
  Bodies bodies;
  Labels labels;
  Ring ring;
} Run;

/* What every process finds alike, without asking the others. */
static void check_tags(const Layout* layout, Failure* failure) {
  int bound = job_largest_tag();
  long long tag = ring_largest_tag(layout);
  if (tag > bound) {
    failure_note(failure, kExitInput, "blocks of %d need message tags up to %lld, this MPI has %d; use larger blocks",
                 layout->block, tag, bound);
  }
}

static int prepare(Run* run) {
  Failure failure = {0};
  const Options* options = &run->options;
  run->layout = layout_make(options->bodies, options->block, options->imbalance, run->job.ranks, run->job.rank);
  check_tags(&run->layout, &failure);
  if (failure.code == 0 && (!bodies_create(&run->bodies, &run->layout) ||
                            (options->labels && !labels_create(&run->labels, run->job.ranks)) ||
                            !ring_create(&run->ring, &run->bodies, &run->labels))) {
    failure_note(&failure, kExitInput, "not enough memory for %d bodies in blocks of %d", options->bodies,
                 options->block);
  }
  return job_agree(&run->job, &failure);
}

/* The time of the slowest process. */
static double timed_steps(const Simulation* simulation, int steps) {
  MPI_Barrier(MPI_COMM_WORLD);
  double start = MPI_Wtime();
  simulate_steps(simulation, steps);
  double seconds = MPI_Wtime() - start;
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return seconds;
}

/* Written so that a result which is not a number fails. */
static int judge(const Run* run, const Report* report) {
  Failure failure = {0};
  const Options* options = &run->options;
  double rounding = check_momentum_tolerance(&report->after, options->bodies, options->steps);
  if (!(report->momentum_change <= rounding)) {
    failure_note(&failure, kExitWrong, "the momentum changed by %.3e; rounding explains %.3e", report->momentum_change,
                 rounding);
  }
  double drift = check_energy_tolerance(options->bodies, options->dt);
  if (!(report->energy_drift <= drift)) {
    failure_note(&failure, kExitWrong, "the energy changed by a part of %.3e; steps of %g explain %.3e",
                 report->energy_drift, options->dt, drift);
  }
  if (report->compared && report->difference < 0) {
    failure_note(&failure, kExitInput, "not enough memory for a serial simulation of %d bodies; leave --verify out",
                 options->bodies);
  }
  if (report->compared && !(report->difference <= kLargestDifference)) {
    failure_note(&failure, kExitWrong, "a body differs by %.3e from the serial simulation, by more than %g",
                 report->difference, kLargestDifference);
  }
  return job_agree(&run->job, &failure);
}

static int simulate(Run* run) {
  const Options* options = &run->options;
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

static int execute(Run* run, int argc, char** argv) {
  Failure failure = {0};
  options_parse(&run->options, argc, argv, &failure);
  job_check_thread_support(&run->job, &failure);
  int code;
  if (!job_goes_on(&run->job, &failure, run->options.help, options_print_usage, &code)) {
    return code;
  }
  code = prepare(run);
  return code != 0 ? code : simulate(run);
}

int main(int argc, char** argv) {
  Run run = {.job = job_start("nbody", &argc, &argv)};
  int code = execute(&run, argc, argv);
  ring_destroy(&run.ring);
  labels_destroy(&run.labels);
  bodies_destroy(&run.bodies);
  MPI_Finalize();
  return code;
}
