/* SPDX-License-Identifier: Apache-2.0
 *
 * What a series of steps does: all, or for --overlap one half of it, so that it is seen what the other half adds.
 */
#ifndef MINIMOD_WORK_H
#define MINIMOD_WORK_H

typedef enum { kWorkAll, kWorkKernels, kWorkHalos, kWorks } Work;

enum { kOverlapTurns = 5 }; /* series of each kind, which take turns */

/* Of several series the fastest counts: what else runs on the machine only adds. 0: there is none yet. */
static inline double work_faster(double before, double seconds) {
  return before > 0 && before < seconds ? before : seconds;
}

#endif
