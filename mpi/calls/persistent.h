/* SPDX-License-Identifier: Apache-2.0
 *
 * What is known of requests that stay until they are freed. MPI_Start gets requests and does not know what they are. A
 * table says which of them send, so that a task that starts one counts as a task that sends (marline_task_sends).
 * Another one has those that MPICH's MPI_Testall must not be asked about (waitall.c): partitioned ones and persistent
 * collectives. Any thread.
 */
#ifndef MARLINE_MPI_PERSISTENT_H
#define MARLINE_MPI_PERSISTENT_H

#include <stdbool.h>

#include "base/mpi_library.h"

/* What the wrapper of a call that makes a persistent send says, or one of the others, if `error` is MPI_SUCCESS. */
void persistent_made(int error, const MPI_Request* request);
void not_for_testall_made(int error, const MPI_Request* request);

bool are_any_not_for_testall(int count, const MPI_Request* requests);

#endif
