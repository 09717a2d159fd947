/* SPDX-License-Identifier: Apache-2.0
 *
 * Output on rank 0: remarks, `# KEY VALUE`, the verdict, and figures, `NAME VALUE UNIT`.
 */
#ifndef HALO_REPORT_H
#define HALO_REPORT_H

#include "job.h"
#include "options.h"

typedef struct {
  const Job *job;
  const Options *options;
  double seconds; /* of the slowest rank */
  double error;
  double tolerance;
} Report;

bool report_passed(const Report *report);
void report_remarks(const Report *report);
void report_figures(const Report *report);

#endif
