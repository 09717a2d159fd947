/* SPDX-License-Identifier: Apache-2.0
 *
 * What is known of requests that stay until they are freed. MPI_Start gets requests and does not know what they are. A
 * table says which of them send, so that a task that starts one counts as a task that sends (marline_task_sends). Another
 * one has the partitioned ones, which MPICH's MPI_Testall must not be asked about (waitall.c). Any thread.
 */
#ifndef MARLINE_MPI_PERSISTENT_H
#define MARLINE_MPI_PERSISTENT_H

#include <stdbool.h>

#include "base/mpi_library.h"

/* What the wrapper of a call that makes a persistent send, or a partitioned request, says, if `error` is MPI_SUCCESS. */
void persistent_made(int error, const MPI_Request *request);
void partitioned_made(int error, const MPI_Request *request);

bool persistent_is_any_partitioned(int count, const MPI_Request *requests);

#endif
