/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds messages that have arrived and that no call receives, for `marline ps`: MPI_Iprobe finds the first message of
 * each sender on each communicator. MPI may hang, so a separate thread asks, and answers that do not come in time are
 * dropped. It asks only when `marline ps` has found that nothing moves in the job: then no task frees a communicator at
 * the same time.
 */
#ifndef MARLINE_MPI_MESSAGES_H
#define MARLINE_MPI_MESSAGES_H

#include "inspect/describe_write.h"

/* Below `thread_level` MPI_THREAD_MULTIPLE, MPI is not asked. */
void messages_start(int thread_level);

/* No MPI call is made for messages after this returns, unless MPI hangs in one. */
void messages_stop(void);

/* Writes {"messages": [...]}, or {"problem": "..."}. One thread at a time. */
void messages_describe(const Out* out);

#endif
