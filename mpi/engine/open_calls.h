/* SPDX-License-Identifier: Apache-2.0
 *
 * The calls in which tasks wait, and the polls of MPI for them. Only the poller uses this: one thread at a time, and
 * each sees what the last one wrote.
 */
#ifndef MARLINE_MPI_OPEN_CALLS_H
#define MARLINE_MPI_OPEN_CALLS_H

#include "engine/engine.h"

/* From now on asked about. */
void open_calls_admit(Pending* pending);

/* Asks about some, tells those that wait for the ones that have completed, and returns how many these are. What it
 * costs has a bound that does not depend on how many are open, and every one has its turn. */
int open_calls_poll(void);

/* How many are open. */
int open_calls_count(void);

/* Forgets them all. */
void open_calls_clear(void);

#endif
