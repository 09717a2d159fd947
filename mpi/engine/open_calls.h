/* SPDX-License-Identifier: Apache-2.0
 *
 * The calls in which tasks wait, and the polls of MPI for them. Only the poller uses this: one thread at a time, and
 * each sees what the previous one wrote.
 */
#ifndef MARLINE_MPI_OPEN_CALLS_H
#define MARLINE_MPI_OPEN_CALLS_H

#include "engine/pending.h"

/* From now on, polls test this call. */
void open_calls_admit(Pending* pending);

/* Tests some calls, reports the completed ones to their tasks, and returns how many these are. The cost has a bound
 * that does not depend on how many calls are open, and every call has its turn. */
int open_calls_poll(void);

/* Called by the poller, from a finished(): calls MPI_Cancel, once, for the requests of receives in the scope. They
 * complete soon, in the usual way. */
void open_calls_cancel_receives(const struct marline_mpi_speculation* scope);

/* How many calls are open. */
int open_calls_count(void);

/* Forgets all calls. */
void open_calls_clear(void);

#endif
