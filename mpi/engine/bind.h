/* SPDX-License-Identifier: Apache-2.0
 *
 * What others in this library ask about the requests of marline_mpi.h.
 */
#ifndef MARLINE_MPI_BIND_H
#define MARLINE_MPI_BIND_H

/* Requests that are open: they hold tasks, or somebody is told of their end. Any thread. */
int bound_requests(void);

#endif
