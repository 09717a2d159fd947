/* SPDX-License-Identifier: Apache-2.0
 *
 * What a run prints on standard output: remarks, `# KEY VALUE`, and figures, `NAME VALUE UNIT`. Rank 0, main thread.
 * Figures are printed only once the result has been found right.
 */
#ifndef NBODY_REPORT_H
#define NBODY_REPORT_H

#include <stdbool.h>

#include "check.h"
#include "layout.h"
#include "options.h"

typedef struct {
  const Options* options;
  const Layout* layout;
  int threads; /* of rank 0 */
  double softening;
  double seconds;
  Totals before;
  Totals after;
  double energy_drift;
  double momentum_change;
  bool compared; /* with a serial simulation */
  double difference;
} Report;

void report_remarks(const Report* report);
void report_figures(const Report* report);

#endif
