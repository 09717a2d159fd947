/* SPDX-License-Identifier: Apache-2.0
 *
 * The operations under way, by their requests. Any thread.
 */
#ifndef MARLINE_CHECK_MPI_REQUESTS_H
#define MARLINE_CHECK_MPI_REQUESTS_H

#include "mpi/buffers.h"

/* After the call of `operation` has returned `outcome`: the operation belongs to the request, or is over if there is
 * none. */
void operation_keep(const Operation* operation, int outcome, const MPI_Request* request);

#endif
