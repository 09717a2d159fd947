/* SPDX-License-Identifier: Apache-2.0
 *
 * See report.h. No state.
 */
#include "report.h"

#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>

#include "costs.h"

static Costs costs_of_run(const Report* report) {
  return costs_of(&report->work->earth->survey, report->options->form);
}

/* The earth, the parts of the image and their sum, and the copy that finishes it: more than what makes the smooth
 * model, which is given back before the parts are reserved. Without shots that run on the host. */
static double host_bytes(const Survey* survey) {
  return stack_bytes(survey) + (5 * (double)survey->nx * survey->nz + survey->steps) * sizeof(float);
}

void report_plan(const Report* report) {
  const Options* options = report->options;
  const Earth* earth = report->work->earth;
  const Survey* survey = &earth->survey;
  const Costs costs = costs_of_run(report);
  const double points = (double)survey->nx * survey->nz;
  printf("# form %s\n# model %s\n# grid %dx%d\n# spacing_m %g\n", options_form(options), options_model(options),
         survey->nx, survey->nz, options->spacing);
  printf("# frequency_hz %g\n# steps %d\n# step_s %.6g\n# sponge %d\n", options->frequency, survey->steps, earth->step,
         survey->sponge);
  printf("# shots %d\n# aperture_columns %d\n# largest_shot %.3f\n", survey->shots, survey->aperture,
         costs.largest * survey->shots / costs.all);
  if (options->form == kFormTarget) {
    printf("# devices %d\n", report->work->devices);
  }
  printf("# sleep_ms %g\n", options->sleep_ms);
  printf("# host_bytes %.0f\n# device_bytes %.0f\n# shot_bytes %.0f\n", host_bytes(survey),
         (2 * points + survey->steps) * sizeof(float) + sizeof *survey, costs.bytes);
  fflush(stdout);
}

/* Of the shot that had fewest. */
static int fewest_threads(const Report* report) {
  int fewest = report->options->threads;
  for (int shot = 0; shot < report->options->shots; ++shot) {
    const int threads = report->work->stack->outcomes[shot].threads;
    fewest = threads < fewest ? threads : fewest;
  }
  return fewest;
}

/* Of the shot that is worst. */
static double largest_rest(const Report* report) {
  double largest = 0;
  for (int shot = 0; shot < report->options->shots; ++shot) {
    const double rest = report->work->stack->outcomes[shot].rest;
    largest = rest > largest || isnan(rest) ? rest : largest;
  }
  return largest;
}

void report_result(const Report* report) {
  if (report->options->sleep_ms == 0) {
    printf("# energy %.9e\n# hash %016" PRIx64 "\n", stack_energy(report->work->stack),
           stack_hash(report->work->stack));
    printf("# rest %.3e\n# threads_of_shot %d\n", largest_rest(report), fewest_threads(report));
  }
  if (report->options->check) {
    const Findings* findings = &report->findings;
    printf("# reflector_places %d\n# reflector_error_m %.2f\n# reflector_error_wavelengths %.3f\n# strangers %.3f\n",
           findings->places, findings->farthest, findings->part, findings->strangers);
  }
  fflush(stdout);
}

static int workers(const Report* report) {
  const Options* options = report->options;
  const int own = options->form == kFormTarget  ? report->work->devices
                  : options->form == kFormTasks ? omp_get_max_threads()
                                                : 1;
  return options->workers > 0 ? options->workers : own;
}

/* What the best order could not beat: an equal share for all, or the largest shot. */
static double shortest_seconds(const Report* report) {
  const Costs costs = costs_of_run(report);
  const double share = costs.all / workers(report);
  return 1e-3 * report->work->ms_per_point * (share > costs.largest ? share : costs.largest);
}

void report_figures(const Report* report) {
  if (report->options->check) {
    printf("check passed\n");
  }
  printf("seconds %.6f s\n", report->seconds);
  if (report->options->sleep_ms > 0) {
    printf("efficiency %.2f %%\n", 100 * shortest_seconds(report) / report->seconds);
  } else {
    printf("gpoints_per_s %.4f Gpoint/s\n", 1e-9 * costs_of_run(report).all / report->seconds);
  }
  fflush(stdout);
}
