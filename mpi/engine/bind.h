/* SPDX-License-Identifier: Apache-2.0
 *
 * Queries about the requests of marline_mpi.h, for other files of this library.
 */
#ifndef MARLINE_MPI_BIND_H
#define MARLINE_MPI_BIND_H

/* Requests that are open: they hold tasks, or somebody is told of their end. Any thread. */
int bound_requests(void);

#endif
