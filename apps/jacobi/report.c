/* SPDX-License-Identifier: Apache-2.0
 *
 * See report.h. No state.
 */
#include "report.h"

#include <inttypes.h>
#include <stdio.h>

void report_remarks(const Job* job, const Options* options) {
  printf("# form %s\n# ranks %d\n# threads %d\n", options_form(options), job->ranks, job->threads);
  printf("# rows %d\n# columns %d\n# blocks %d\n# planes %d\n", options->rows, options->columns, options->blocks,
         options_planes(options));
  fflush(stdout);
}

void report_solve(int number, const Outcome* outcome, const Check* check) {
  printf("# solve_%d iterations %d residual %.17g iterate %016" PRIx64 "\n", number, outcome->iterations,
         outcome->residual, check->hash);
  fflush(stdout);
}

void report_figures(const Options* options, const Totals* totals) {
  printf("# withdrawn %llu\n# drained %llu\n", totals->withdrawn, totals->drained);
  printf("check passed\n");
  printf("seconds %.6f s\n", totals->seconds);
  printf("iterations %ld count\n", totals->iterations);
  printf("wasted %.3f count\n", totals->wasted / options->solves);
  printf("iteration_us %.3f us\n", 1e6 * totals->seconds / (double)totals->iterations);
  fflush(stdout);
}
