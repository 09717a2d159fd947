/* SPDX-License-Identifier: Apache-2.0
 *
 * Remembers the calls that started the program's requests, for `marline ps`. MPI_Wait gets handles, and MPI does not
 * say what the requests are, so a table here has how they began.
 *
 * The table has kRequests slots, indexed by handle. A newer request replaces an older one. So an entry may be missing,
 * but never belongs to another request, because every call that gives the program a request writes the table. MPI has
 * one handle for all requests that are complete from the start: they are not in the table. Entries are not removed when
 * a request ends. Any thread.
 *
 * A slot is written without a lock or an order of its stores: `check` holds the exclusive or of the rest, so that a
 * reader ignores an entry that two writers have mixed, or that a writer has not finished, unless the differences happen
 * to cancel (the lockless hash table of Hyatt and Mann, ICGA Journal, 2002).
 */
#ifndef MARLINE_MPI_REQUESTS_H
#define MARLINE_MPI_REQUESTS_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/call.h"
#include "comm/comm.h"
#include "inspect/describe_write.h"

/* Open requests; if there are more, `marline ps` knows the newest. */
enum { kRequestBits = 10, kRequests = 1 << kRequestBits };

typedef struct BegunRequest {
  _Alignas(64) _Atomic uint64_t check;
  _Atomic uint64_t handle;       /* 0 in a slot that was never written: no request in either implementation */
  _Atomic uint64_t operation;    /* the address of the call's name */
  _Atomic uint64_t comm;         /* identity of the communicator; 0: none */
  _Atomic uint64_t peer_and_tag; /* as in MpiCall; the tag in the lower half */
  _Atomic uint64_t count;        /* number of elements */
} BegunRequest;

extern BegunRequest begun_requests[kRequests];

/* The handles of requests that are complete from the start: of sends, of receives, of collectives. */
enum { kCompleteKinds = 3 };
extern uint64_t complete_requests[kCompleteKinds]; /* written in MPI_Init */

/* Called after MPI_Init: finds out these handles, by calls of MPI. */
void requests_start(void);

/* Called by the wrapper of a call that gives a request: notes it if `error` is MPI_SUCCESS. */
static inline void request_begun(int error, const MPI_Request* request, const MpiCall* call) {
  if (error != MPI_SUCCESS) return;
  const uint64_t handle = (uint64_t)(intptr_t)*request;
  if (handle == complete_requests[0] || handle == complete_requests[1] || handle == complete_requests[2]) return;
  const uint64_t operation = (uint64_t)(uintptr_t)call->name;
  const uint64_t comm = comm_identify(call->comm);
  const uint64_t peer_and_tag = (uint64_t)(uint32_t)call->peer << 32 | (uint32_t)call->tag;
  const uint64_t count = (uint64_t)call->count;
  /* Fibonacci hashing (Knuth, TAOCP 3, 6.4). */
  BegunRequest* place = &begun_requests[handle * UINT64_C(0x9e3779b97f4a7c15) >> (64 - kRequestBits)];
  atomic_store_explicit(&place->handle, handle, memory_order_relaxed);
  atomic_store_explicit(&place->operation, operation, memory_order_relaxed);
  atomic_store_explicit(&place->comm, comm, memory_order_relaxed);
  atomic_store_explicit(&place->peer_and_tag, peer_and_tag, memory_order_relaxed);
  atomic_store_explicit(&place->count, count, memory_order_relaxed);
  atomic_store_explicit(&place->check, handle ^ operation ^ comm ^ peer_and_tag ^ count, memory_order_relaxed);
}

/* Writes {"complete": [HANDLE, ...], "requests": [{"id": HANDLE, "operation": ..., "peer": ..., "tag": ..., "comm":
 * ..., "count": ...}, ...]}, with handles, peers, tags and communicators as in waiting.h. "complete" has the handles
 * for which no task waits: null, the handles of requests that are complete from the start, and of requests with
 * MPI_PROC_NULL. */
void requests_describe(const Out* out);

#endif
