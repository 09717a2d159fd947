/* SPDX-License-Identifier: Apache-2.0
 *
 * The ways to iterate; all leave the same numbers. Called by the main thread, outside of any parallel region.
 */
#ifndef HALO_FORMS_H
#define HALO_FORMS_H

#include "grid.h"

typedef struct {
  const Grid* grid;
  int ranks;
  int rank;
  int first; /* iterations first to last - 1 */
  int last;
} Work;

/* Exchange, wait, compute: nothing overlaps. */
void loops_run(const Work* work);

/* A task for each message, which makes a blocking call, and for each block. */
void tasks_run(const Work* work);

/* As tasks, but a message's task starts a nonblocking call and ends; the poller (poller.h) completes it. */
void detach_run(const Work* work);

#endif
