/* SPDX-License-Identifier: Apache-2.0
 *
 * The MPI functions of the next library after libmarline-accesses-mpi.so, and which calls are the program's. Any
 * thread.
 */
#ifndef MARLINE_CHECK_MPI_LIBRARY_H
#define MARLINE_CHECK_MPI_LIBRARY_H

#include <stdbool.h>

#include "mpi_next.h" /* generated */

#define MPI_API __attribute__((visibility("default")))

/* Looks the functions up at the first call. Ends the process if MPI is not of the ABI that this library is built for.
 */
const NextMpi* mpi(void);

/* Whether the program makes the call that returns to `code`, and not MPI itself. The first thing in each function: it
 * also tells libmarline-mpi who calls (marline_trace_caller). */
bool is_noted(const void* code);

#endif
