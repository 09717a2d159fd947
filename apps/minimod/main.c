/* SPDX-License-Identifier: Apache-2.0
 *
 * Waves of pressure on devices, or on the host alone. This file is the course of a run. Everything here runs on the
 * main thread; tasks.c has the parallel region.
 */
#include <omp.h>
#include <stdio.h>

#include "devices.h"
#include "grid.h"
#include "host.h"
#include "options.h"
#include "picture.h"
#include "report.h"
#include "tasks.h"
#include "verify.h"

typedef struct {
  Options options;
  int slabs;
  Grid grid;
} Run;

static void prepare(Run* run, Failure* failure) {
  const Options* options = &run->options;
  verify_check_options(options, failure);
  run->slabs = options->host ? 1 : devices_count(options, failure);
  if (failure->code == 0 && options->grid[0] / run->slabs < grid_fewest_planes(run->slabs)) {
    failure_note(failure, kExitInput, "%d planes are too few for %d devices, which need %d each", options->grid[0],
                 run->slabs, grid_fewest_planes(run->slabs));
  }
  if (failure->code == 0 && options->overlap && run->slabs < 2) {
    failure_note(failure, kExitInput, "--overlap needs two devices or more: a single slab has no halos");
  }
  if (failure->code == 0 && !grid_create(&run->grid, options, 0, options->grid[0], run->slabs)) {
    failure_note(failure, kExitInput, "not enough memory for %d x %d x %d points", options->grid[0], options->grid[1],
                 options->grid[2]);
  }
}

static double steps_on_host(Run* run) {
  const double start = omp_get_wtime();
  for (int step = 0; step < run->options.steps; ++step) {
    host_part(&run->grid, &run->grid.slab[0], step, kInner);
  }
  return omp_get_wtime() - start;
}

static void steps_on_devices(Run* run, double seconds[kWorks], Failure* failure) {
  const int turns = run->options.overlap ? kOverlapTurns : 1, works = run->options.overlap ? kWorks : kWorkAll + 1;
  devices_enter(&run->grid, failure);
  for (int i = 0; i < turns * works && failure->code == 0; ++i) {
    const Work work = (Work)(i % works);
    const double start = omp_get_wtime();
    tasks_run(&run->grid, work, failure);
    seconds[work] = work_faster(seconds[work], omp_get_wtime() - start);
  }
  devices_leave(&run->grid, run->options.steps);
}

static void simulate(Run* run, Failure* failure) {
  const Options* options = &run->options;
  Report report = {.options = options,
                   .kind = options->host ? "slabs" : "devices",
                   .slabs = run->slabs,
                   .threads = omp_get_max_threads()};
  if (options->host) {
    report.seconds[kWorkAll] = steps_on_host(run);
  } else {
    steps_on_devices(run, report.seconds, failure);
  }
  if (failure->code == 0 && !verify_grid(&run->grid, &report.findings)) {
    failure_note(failure, kExitInput, "not enough memory for a serial run of the grid; leave --serial out");
  }
  if (failure->code == 0) {
    printf("# form %s\n", options->host ? "host" : options_form(options));
    report_remarks(&report);
    verify_judge(options, &report.findings, failure);
  }
  if (failure->code == 0 && options->picture) {
    picture_write(&run->grid, options->picture, failure);
  }
  if (failure->code == 0) {
    report_figures(&report);
  }
}

int main(int argc, char** argv) {
  Run run = {0};
  Failure failure = {0};
  options_parse(&run.options, argc, argv, &failure);
  if (failure.code == 0 && run.options.help) {
    options_print_usage(false);
    return 0;
  }
  if (failure.code == 0) {
    prepare(&run, &failure);
  }
  if (failure.code == 0) {
    simulate(&run, &failure);
  }
  grid_destroy(&run.grid);
  if (failure.code != 0) {
    fprintf(stderr, "minimod: %s\n", failure.text);
  }
  return failure.code;
}
