/* SPDX-License-Identifier: Apache-2.0
 *
 * Output: remarks, `# KEY VALUE`, the verdicts, and figures, `NAME VALUE UNIT`. Of ranks, rank 0 calls this.
 */
#ifndef MINIMOD_REPORT_H
#define MINIMOD_REPORT_H

#include "verify.h"
#include "work.h"

typedef struct {
  const Options* options;
  const char* kind; /* what each slab belongs to: devices, ranks */
  int slabs;
  int threads;
  double seconds[kWorks]; /* of a series of steps; but for kWorkAll with --overlap only */
  Findings findings;
} Report;

void report_remarks(const Report* report);
void report_figures(const Report* report);

#endif
