/* SPDX-License-Identifier: Apache-2.0
 *
 * See report.h. No state.
 */
#include "report.h"

#include <stdio.h>

void report_remarks(const Report* report) {
  const Options* options = report->options;
  const int* grid = options->grid;
  printf("# %s %d\n# threads %d\n", report->kind, report->slabs, report->threads);
  printf("# grid %dx%dx%d\n# steps %d\n# courant %g\n", grid[0], grid[1], grid[2], options->steps, options->courant);
  printf("# model %s\n# start %s\n", options_model(options), options_start(options));
  if (options->start == kStartPoint) {
    printf("# wavelength %g\n", options->wavelength);
  }
  printf("# sponge %d\n# sleep_ms %g\n", options->sponge, options->sleep);
  if (options->exact) {
    printf("# error %.3e\n# tolerance %.3e\n", verify_error(options, &report->findings), verify_tolerance(options));
  }
  if (options->serial) {
    printf("# points_differing %.0f\n", report->findings.differing);
  }
  fflush(stdout);
}

/* Of the halos' own time, what a step takes less than both halves one after the other. */
static void report_overlap(const Report* report) {
  const double* seconds = report->seconds;
  const double hidden = seconds[kWorkKernels] + seconds[kWorkHalos] - seconds[kWorkAll];
  printf("kernels_us %.3f us\n", 1e6 * seconds[kWorkKernels] / report->options->steps);
  printf("halos_us %.3f us\n", 1e6 * seconds[kWorkHalos] / report->options->steps);
  printf("overlap %.2f %%\n", 100 * hidden / seconds[kWorkHalos]);
}

void report_figures(const Report* report) {
  const Options* options = report->options;
  const double points = (double)options->grid[0] * options->grid[1] * options->grid[2];
  if (options->exact || options->serial) {
    printf("check passed\n");
  }
  printf("seconds %.6f s\n", report->seconds[kWorkAll]);
  printf("step_us %.3f us\n", 1e6 * report->seconds[kWorkAll] / options->steps);
  printf("halo_bytes %.0f B/step\n", grid_halo_bytes(options, report->slabs));
  if (options->sleep == 0) {
    printf("gpoints_per_s %.4f Gpoint/s\n", 1e-9 * points * options->steps / report->seconds[kWorkAll]);
  }
  if (options->overlap) {
    report_overlap(report);
  }
  fflush(stdout);
}
