/* SPDX-License-Identifier: Apache-2.0
 *
 * Queries about the requests of marline_mpi.h, for other files of this library.
 */
#ifndef MARLINE_MPI_BIND_H
#define MARLINE_MPI_BIND_H

/* How many requests are open: they hold tasks, or their end is to be reported. Any thread. */
int bound_requests(void);

#endif
