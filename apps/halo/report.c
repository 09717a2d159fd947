/* SPDX-License-Identifier: Apache-2.0
 *
 * See report.h. No state.
 */
#include "report.h"

#include <stdio.h>

/* Written so that what is not a number fails. */
bool report_passed(const Report* report) { return report->error <= report->tolerance; }

void report_remarks(const Report* report) {
  const Options* options = report->options;
  printf("# form %s\n# ranks %d\n# threads %d\n", options_form(options), report->job->ranks, report->job->threads);
  printf("# rows %d\n# columns %d\n# blocks %d\n# iterations %d\n", options->rows, options->columns, options->blocks,
         options->iterations);
  printf("# error %.3e\n", report->error);
  printf("check %s\n", report_passed(report) ? "passed" : "failed");
  fflush(stdout);
}

void report_figures(const Report* report) {
  const Options* options = report->options;
  const double points = (double)options->rows * options->columns * report->job->ranks;
  printf("seconds %.6f s\n", report->seconds);
  printf("iteration_us %.3f us\n", 1e6 * report->seconds / options->iterations);
  if (options->turns > 0) {
    printf("without_us %.3f us\n", 1e6 * report->without / options->iterations);
    printf("growth %.4f x\n", report->growth);
    printf("growth_us %.3f us\n", 1e6 * (report->seconds - report->without) / options->iterations);
  }
  printf("points_per_s %.6e 1/s\n", points * options->iterations / report->seconds);
  fflush(stdout);
}
