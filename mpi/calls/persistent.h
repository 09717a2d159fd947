/* SPDX-License-Identifier: Apache-2.0
 *
 * Persistent sends. MPI_Start gets requests and does not know what they are. A table here says which of them send, so
 * that a task that starts one counts as a task that sends (marline_task_sends). Any thread.
 */
#ifndef MARLINE_MPI_PERSISTENT_H
#define MARLINE_MPI_PERSISTENT_H

#include "base/mpi_library.h"

/* What the wrapper of a call that makes a persistent send says, if `error` is MPI_SUCCESS. */
void persistent_made(int error, const MPI_Request *request);

#endif
