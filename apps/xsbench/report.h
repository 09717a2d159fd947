/* SPDX-License-Identifier: Apache-2.0
 *
 * What a run prints on standard output: remarks, `# KEY VALUE`, and figures, `NAME VALUE UNIT`. Main thread. Figures
 * are printed only once the result has been found right.
 */
#ifndef XSBENCH_REPORT_H
#define XSBENCH_REPORT_H

#include "devices.h"
#include "options.h"

typedef struct {
  const Options* options;
  Work work;
  Outcome outcome;
  double bytes;                /* of the tables */
  const char* compared;        /* with what; NULL: with nothing */
  unsigned long long expected; /* what the checksum is compared with */
} Report;

/* XSBench's checksum of a sum of channels. */
unsigned long long report_checksum(unsigned long long sum);

void report_remarks(const Report* report);
void report_figures(const Report* report);

#endif
