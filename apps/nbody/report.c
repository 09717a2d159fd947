/* SPDX-License-Identifier: Apache-2.0
 *
 * Output on rank 0; see report.h. No state.
 */
#include "report.h"

#include <stdio.h>

#include "kernels.h"

static void print_shares(const Layout* layout) {
  printf("# bodies_per_rank");
  for (int rank = 0; rank < layout->ranks; ++rank) {
    printf(" %d", layout_bodies(layout, rank));
  }
  printf("\n# blocks_per_rank");
  for (int rank = 0; rank < layout->ranks; ++rank) {
    printf(" %d", layout_blocks(layout, rank));
  }
  printf("\n");
}

void report_remarks(const Report* report) {
  const Options* options = report->options;
  printf("# bodies %d\n# steps %d\n# block %d\n", options->bodies, options->steps, options->block);
  printf("# imbalance %g\n# dt %g\n# seed %lld\n", options->imbalance, options->dt, options->seed);
  printf("# ranks %d\n# threads %d\n", report->layout->ranks, report->threads);
  print_shares(report->layout);
  printf("# softening %.6g\n", report->softening);
  printf("# energy %.15e\n", report->after.kinetic + report->after.potential);
  printf("# energy_drift %.3e\n# momentum_change %.3e\n", report->energy_drift, report->momentum_change);
  if (report->compared) {
    printf("# difference %.3e\n", report->difference);
  }
  printf("# checksum %.15e\n", report->after.checksum);
  fflush(stdout);
}

void report_figures(const Report* report) {
  double bodies = report->options->bodies;
  double rate = bodies * bodies * report->options->steps / report->seconds;
  printf("elapsed_s %.6f s\n", report->seconds);
  printf("interactions_per_s %.6e 1/s\n", rate);
  printf("gflops %.3f Gflop/s\n", rate * kFlopsPerInteraction * 1e-9);
  fflush(stdout);
}
