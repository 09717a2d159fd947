/* SPDX-License-Identifier: Apache-2.0
 *
 * Output; see report.h. No state.
 */
#include "report.h"

#include <stdio.h>

enum { kChecksumModulus = 999983 };

unsigned long long report_checksum(unsigned long long sum) { return sum % kChecksumModulus; }

void report_remarks(const Report* report) {
  const Options* options = report->options;
  printf("# size %s\n# nuclides %d\n# gridpoints %d\n", options_size(options), options_nuclides(options),
         options->gridpoints);
  printf("# grid %s\n# table_bytes %.0f\n# lookups %lld\n", options_grid(options), report->bytes, report->work.lookups);
  if (!options->host) {
    printf("# devices %d\n# kernels_per_device %d\n# scaling %s\n", report->work.devices, report->work.kernels,
           options_scaling(options));
  }
  if (options->sleep_ms > 0) {
    printf("# sleep_ms %g\n", report->work.sleep_ms);
  } else {
    printf("# checksum %llu\n", report_checksum(report->outcome.sum));
  }
  printf("# compared_with %s\n", report->compared ? report->compared : "nothing");
  fflush(stdout);
}

void report_figures(const Report* report) {
  const Outcome* outcome = &report->outcome;
  printf("seconds %.6f s\n", outcome->seconds);
  if (!report->options->host) {
    printf("enter_s %.6f s\nkernels_s %.6f s\n", outcome->enter, outcome->kernels);
  }
  if (report->options->sleep_ms > 0) {
    printf("efficiency %.2f %%\n", 0.1 * report->work.sleep_ms / report->work.devices / outcome->kernels);
  } else {
    printf("lookups_per_s %.6e 1/s\n", (double)report->work.lookups / outcome->kernels);
  }
  fflush(stdout);
}
