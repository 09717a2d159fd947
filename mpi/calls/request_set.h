/* SPDX-License-Identifier: Apache-2.0
 *
 * A set of requests that stay until they are freed (persistent.c): a table of handles with open addressing, under a
 * mutex. While it is empty, to ask costs a load.
 */
#ifndef MARLINE_MPI_REQUEST_SET_H
#define MARLINE_MPI_REQUEST_SET_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mpi_library.h"

typedef struct RequestSet {
  const char* of; /* what they are, for a message */
  pthread_mutex_t lock;
  /* Under the lock, but for `count`, which is also read without: relaxed, as who uses a request knows of its making. */
  uintptr_t* table; /* an empty place holds 0, which is no request in either implementation */
  size_t capacity;  /* a power of two, at least twice the count */
  _Atomic size_t count;
} RequestSet;

#define REQUEST_SET(what) {.of = (what), .lock = PTHREAD_MUTEX_INITIALIZER}

void request_set_add(RequestSet* set, MPI_Request request);

/* Nothing if it is not there. */
void request_set_remove(RequestSet* set, MPI_Request request);

bool request_set_has_any(RequestSet* set, int number, const MPI_Request* requests);

#endif
