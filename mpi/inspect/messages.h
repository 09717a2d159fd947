/* SPDX-License-Identifier: Apache-2.0
 *
 * Messages that have arrived and that nobody receives, for `marline ps`: MPI_Iprobe says of each sender on each
 * communicator which is the first. MPI may hang, so a thread of its own asks, and what it does not say in time is given
 * up. It asks only when `marline ps` has found the job at rest: then nobody frees a communicator meanwhile.
 */
#ifndef MARLINE_MPI_MESSAGES_H
#define MARLINE_MPI_MESSAGES_H

#include "inspect/describe_write.h"

/* `thread_level`: below MPI_THREAD_MULTIPLE, MPI is not asked. */
void messages_start(int thread_level);

/* No call of MPI is made for this when it returns, unless MPI hangs in one. */
void messages_stop(void);

/* {"messages": [...]}, or {"problem": "..."}. One thread at a time. */
void messages_describe(const Out *out);

#endif
