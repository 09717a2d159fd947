/* SPDX-License-Identifier: Apache-2.0
 *
 * Reverse time migration of a line of shots, on the host or on devices. This file is the course of a run. Everything
 * here runs on the main thread.
 */
#include <math.h>
#include <omp.h>
#include <stdio.h>

#include "costs.h"
#include "earth.h"
#include "forms.h"
#include "options.h"
#include "output.h"
#include "report.h"
#include "stack.h"
#include "verify.h"

/* Everything that a run holds; destroyed in one place however it ends. */
typedef struct {
  Options options;
  Earth earth;
  Stack stack;
  Work work;
  FILE* output; /* NULL: none, or closed again */
} Run;

static void check_shots(const Run* run, Failure* failure) {
  for (int shot = 0; shot < run->options.shots; ++shot) {
    if (run->stack.outcomes[shot].failed) {
      failure_note(failure, kExitInput,
                   "not enough memory for shot %d, which takes %.1f MB where it runs; take a smaller "
                   "--grid, --time or --aperture, or let fewer run at a time",
                   shot, 1e-6 * (double)shot_bytes(&run->earth.survey, shot));
    }
  }
}

static void finish(Run* run, Report* report, Failure* failure) {
  check_shots(run, failure);
  if (run->options.sleep_ms > 0) { /* there is no image */
    return;
  }
  if (failure->code == 0 && !stack_finish(&run->stack)) {
    failure_note(failure, kExitInput, "not enough memory to finish the image");
  }
  if (failure->code == 0 && !isfinite(stack_energy(&run->stack))) {
    failure_note(failure, kExitWrong, "the image has values that are not finite");
  }
  if (failure->code == 0 && run->options.check) {
    report->findings = verify_image(&run->options, run->stack.image);
  }
}

static void migrate(Run* run, Failure* failure) {
  static void (*const kRun[])(const Work*) = {
      [kFormSerial] = forms_serial, [kFormTasks] = forms_tasks, [kFormTarget] = forms_target};
  Report report = {.options = &run->options, .work = &run->work};
  report_plan(&report);
  const double start = omp_get_wtime();
  kRun[run->options.form](&run->work);
  report.seconds = omp_get_wtime() - start;
  finish(run, &report, failure);
  if (failure->code != 0) {
    return;
  }
  report_result(&report);
  if (run->options.check) {
    verify_judge(&report.findings, failure);
  }
  if (run->output) {
    output_write(run->output, run->options.output, &run->earth, &run->stack, failure);
    run->output = NULL;
  }
  if (failure->code == 0) {
    report_figures(&report);
  }
}

/* Devices start when all that the user gave has been checked. */
static void prepare(Run* run, Failure* failure) {
  const Options* options = &run->options;
  run->work = (Work){.earth = &run->earth, .stack = &run->stack, .threads = options->threads};
  earth_create(&run->earth, options, failure);
  if (failure->code == 0 && !stack_create(&run->stack, &run->earth.survey)) {
    failure_note(failure, kExitInput,
                 "not enough memory for the images of %d shots, %.0f MB; take fewer, or a smaller "
                 "--aperture",
                 options->shots, 1e-6 * stack_bytes(&run->earth.survey));
  }
  if (failure->code == 0 && options->output) {
    run->output = output_open(options->output, failure);
  }
  if (failure->code == 0 && options->form == kFormTarget) {
    forms_find_devices(&run->work, options->devices, failure);
  }
  if (failure->code != 0) {
    return;
  }
  run->work.ms_per_point = options->sleep_ms * options->shots / costs_of(&run->earth.survey, options->form).all;
  if (options->threads > 1) { /* a shot's region is within that of the tasks */
    omp_set_max_active_levels(2);
  }
}

int main(int argc, char** argv) {
  Run run = {0};
  Failure failure = {0};
  options_parse(&run.options, argc, argv, &failure);
  if (failure.code == 0 && run.options.help) {
    options_print_usage();
    return 0;
  }
  if (failure.code == 0) {
    prepare(&run, &failure);
  }
  if (failure.code == 0) {
    migrate(&run, &failure);
  }
  if (run.output) {
    fclose(run.output);
  }
  stack_destroy(&run.stack);
  earth_destroy(&run.earth);
  if (failure.code != 0) {
    fprintf(stderr, "rtm: %s\n", failure.text);
  }
  return failure.code;
}
