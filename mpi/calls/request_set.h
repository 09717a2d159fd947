/* SPDX-License-Identifier: Apache-2.0
 *
 * A set of requests that exist until they are freed (persistent.c): a hash table of handles with open addressing, under
 * a mutex. While the set is empty, a query costs one load.
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
  const char* of; /* what the requests are, for a message */
  pthread_mutex_t lock;
  /* Under the lock. `count` is also read without the lock: relaxed, because a thread that uses a request knows that
   * it has been made. */
  uintptr_t* table; /* an empty slot holds 0, which is no request in either implementation */
  size_t capacity;  /* a power of two, at least twice the count */
  _Atomic size_t count;
} RequestSet;

#define REQUEST_SET(what) {.of = (what), .lock = PTHREAD_MUTEX_INITIALIZER}

void request_set_add(RequestSet* set, MPI_Request request);

/* Does nothing if the request is not in the set. */
void request_set_remove(RequestSet* set, MPI_Request request);

bool request_set_has_any(RequestSet* set, int number, const MPI_Request* requests);

#endif
