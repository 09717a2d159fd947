/* SPDX-License-Identifier: Apache-2.0
 *
 * Output: remarks, `# KEY VALUE`, and figures, `NAME VALUE UNIT`. Main thread only.
 */
#ifndef RTM_REPORT_H
#define RTM_REPORT_H

#include "forms.h"
#include "verify.h"

typedef struct {
  const Options* options;
  const Work* work;
  double seconds;
  Findings findings; /* with --check */
} Report;

/* Before the run: what is computed, and the memory that it takes. */
void report_plan(const Report* report);

/* After it: the result. */
void report_result(const Report* report);

/* If the result is right. */
void report_figures(const Report* report);

#endif
