/* SPDX-License-Identifier: Apache-2.0
 *
 * Output on rank 0: remarks, `# KEY VALUE`, the verdict, and figures, `NAME VALUE UNIT`.
 */
#ifndef HALO_REPORT_H
#define HALO_REPORT_H

#include "job.h"
#include "options.h"

typedef struct {
  const Job* job;
  const Options* options;
  double seconds; /* of all iterations on the slowest rank; with turns: the median, with tools */
  double without; /* with turns: the median without tools, and that of the quotients */
  double growth;
  double error;
  double tolerance;
} Report;

bool report_passed(const Report* report);
void report_remarks(const Report* report);
void report_figures(const Report* report);

#endif
