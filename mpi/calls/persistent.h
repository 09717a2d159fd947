/* SPDX-License-Identifier: Apache-2.0
 *
 * What is known about requests that exist until they are freed. MPI_Start gets requests and does not know what they
 * are. One table has the requests that send, so that a task that starts one counts as a task that sends
 * (marline_task_sends). Another table has the requests that must not be passed to MPICH's MPI_Testall (waitall.c):
 * partitioned requests and persistent collectives. Any thread.
 */
#ifndef MARLINE_MPI_PERSISTENT_H
#define MARLINE_MPI_PERSISTENT_H

#include <stdbool.h>

#include "base/mpi_library.h"

/* Called by the wrapper of a call that makes a persistent send, or a request that is not for MPI_Testall. They note
 * the request if `error` is MPI_SUCCESS. */
void persistent_made(int error, const MPI_Request* request);
void not_for_testall_made(int error, const MPI_Request* request);

bool are_any_not_for_testall(int count, const MPI_Request* requests);

#endif
