/* SPDX-License-Identifier: Apache-2.0
 *
 * One owner makes all calls of MPI: for libraries without MPI_THREAD_MULTIPLE, and against the errors of those that have
 * it. The owner is the progress thread. Every pointer in next_mpi then leads to a function that hands the call to it (the
 * generated mpi_owner.c) and waits for the result; what the owner itself calls, callbacks of the program's included, goes
 * straight to MPI. Calls that wait for other processes must not be handed over, as the owner would wait, too: they are made
 * by their nonblocking twins, in tasks and outside (engine_takes()). Only those without a twin are.
 *
 * Without an owner, nothing of this costs anything.
 */
#ifndef MARLINE_MPI_OWNER_H
#define MARLINE_MPI_OWNER_H

#include <stdbool.h>

#include "base/mpi_library.h"

/* From now on there is an owner: the thread is there, next_mpi leads to it. No other thread calls MPI meanwhile. `poll` is
 * the engine's. */
void owner_start(int (*poll)(void *));

/* Whether owner_start has been called. Written by it, before the program's other threads may call MPI. */
extern bool owner_started;
static inline bool owner_exists(void) { return owner_started; }

/* Whether the calling thread is the owner. */
bool owner_is_me(void);

/* Has the owner call function(arguments); in the owner itself, just calls it. */
void owner_call(void (*function)(void *arguments), void *arguments);

/* The MPI library's own functions, for the owner. Written by owner_start. */
extern NextMpi mpi_library;

/* What next_mpi becomes; generated. */
extern const NextMpi owner_functions;

#endif
