/* SPDX-License-Identifier: Apache-2.0
 *
 * One owner makes all MPI calls: for libraries without MPI_THREAD_MULTIPLE, and to avoid errors of libraries that have
 * it. The owner is the progress thread. Every pointer in next_mpi then leads to a function that passes the call to the
 * owner (the generated mpi_owner.c) and waits for the result. Calls by the owner itself, also in callbacks of the
 * program, go straight to MPI. Calls that wait for other processes must not be passed on, because the owner would wait,
 * too: their nonblocking forms replace them, in tasks and outside (engine_takes()). Only calls without a nonblocking
 * form are passed on.
 *
 * Without an owner, all this costs nothing.
 */
#ifndef MARLINE_MPI_OWNER_H
#define MARLINE_MPI_OWNER_H

#include <stdbool.h>

#include "base/mpi_library.h"

/* From now on there is an owner: its thread exists, and next_mpi leads to it. No other thread calls MPI meanwhile.
 * `poll` is the engine's poll function. */
void owner_start(int (*poll)(void*));

/* Whether owner_start has been called, which writes it before the program's other threads may call MPI. */
extern __attribute__((visibility("hidden"))) bool owner_started;
static inline bool owner_exists(void) { return owner_started; }

/* Whether the calling thread is the owner. */
bool owner_is_me(void);

/* Makes the owner call function(arguments); in the owner itself, calls it directly. */
void owner_call(void (*function)(void* arguments), void* arguments);

/* The MPI library's own functions, for the owner. Written by owner_start. */
extern NextMpi mpi_library;

/* The contents of next_mpi if there is an owner; generated. */
extern const NextMpi owner_functions;

#endif
