/* SPDX-License-Identifier: Apache-2.0
 *
 * The calls that start persistent requests, and those by which the program learns that a request is complete: from then
 * on its operation is before what the current task does. A request that MPI_Request_free leaves to itself is never seen
 * to be complete. MPICH gives one handle to many sends that were complete at once: the same handle may be there several
 * times.
 */
#include "mpi/requests.h"

#include <stdlib.h>
#include <string.h>

#include "accesses/operations.h"
#include "lock.h"

#define CODE __builtin_return_address(0)

enum { kBuckets = 4096 }; /* lists grow where more requests are under way */

typedef struct Entry {
  MPI_Request request;
  uint64_t running; /* an operation; 0: a persistent request that is not active */
  Operation persistent;
  struct Entry* next;
} Entry;

static Entry* entries[kBuckets];
static Lock lock;

static Entry** bucket_of(MPI_Request request) {
  uint64_t bits = 0;
  memcpy(&bits, &request, sizeof request);
  return &entries[(bits * UINT64_C(0x9e3779b97f4a7c15)) >> 52];
}

void operation_keep(const Operation* operation, int outcome, const MPI_Request* request) {
  const bool is_lost = outcome != MPI_SUCCESS || *request == MPI_REQUEST_NULL;
  if (operation->way == kStarted && operation->number == 0) return;
  Entry* entry = is_lost ? NULL : malloc(sizeof *entry);
  if (entry == NULL) {
    if (operation->number != 0) marline_accesses_end(operation->number);
    free(operation->parts);
    return;
  }
  *entry = (Entry){.request = *request, .running = operation->number, .persistent = *operation};
  Entry** bucket = bucket_of(*request);
  lock_take(&lock);
  entry->next = *bucket;
  *bucket = entry;
  lock_give(&lock);
}

/* Takes the request's entry out, or leaves it if it is persistent and not freed. Returns the operation that was under
 * way, or 0. */
static uint64_t take(MPI_Request request, bool is_freed) {
  lock_take(&lock);
  Entry** at = bucket_of(request);
  while (*at != NULL && ((*at)->request != request || (!is_freed && (*at)->running == 0))) at = &(*at)->next;
  Entry* entry = *at;
  const uint64_t operation = entry != NULL ? entry->running : 0;
  const bool is_over = entry != NULL && (is_freed || entry->persistent.way != kKept);
  if (is_over)
    *at = entry->next;
  else if (entry != NULL)
    entry->running = 0;
  lock_give(&lock);
  if (is_over) {
    free(entry->persistent.parts);
    free(entry);
  }
  return operation;
}

static void complete(MPI_Request request) {
  if (request == MPI_REQUEST_NULL) return;
  const uint64_t operation = take(request, false);
  if (operation != 0) marline_accesses_end(operation);
}

static void begin(MPI_Request request, const void* code) {
  lock_take(&lock);
  Entry* entry = *bucket_of(request);
  while (entry != NULL && (entry->request != request || entry->persistent.way != kKept)) entry = entry->next;
  lock_give(&lock);
  if (entry == NULL) return; /* the program may neither start nor free it elsewhere meanwhile */
  const Operation* kept = &entry->persistent;
  const uint64_t operation = marline_accesses_start(kept->name, code);
  for (size_t i = 0; operation != 0 && i < kept->count; ++i)
    marline_accesses_note(operation, kept->parts[i].address, kept->parts[i].size, kept->parts[i].is_write, code);
  entry->running = operation;
}

/* Completing calls overwrite the requests. */
static MPI_Request* copied(int count, const MPI_Request* requests) {
  MPI_Request* copy = malloc((count > 0 ? (size_t)count : 1) * sizeof *copy);
  if (copy != NULL && count > 0) memcpy(copy, requests, (size_t)count * sizeof *copy);
  if (copy == NULL) abort();
  return copy;
}

MPI_API int MPI_Start(MPI_Request* request) {
  if (is_noted(CODE)) begin(*request, CODE);
  return mpi()->Start(request);
}

MPI_API int MPI_Startall(int count, MPI_Request requests[]) {
  const bool is_own = is_noted(CODE);
  for (int i = 0; is_own && i < count; ++i) begin(requests[i], CODE);
  return mpi()->Startall(count, requests);
}

MPI_API int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  const bool is_own = is_noted(CODE);
  const MPI_Request before = *request;
  const int outcome = mpi()->Wait(request, status);
  if (is_own) complete(before);
  return outcome;
}

MPI_API int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  const bool is_own = is_noted(CODE);
  const MPI_Request before = *request;
  const int outcome = mpi()->Test(request, flag, status);
  if (is_own && *flag) complete(before);
  return outcome;
}

static void complete_all(int count, MPI_Request* before) {
  for (int i = 0; i < count; ++i) complete(before[i]);
}

static void complete_some(int count, const int* indices, MPI_Request* before) {
  for (int i = 0; count != MPI_UNDEFINED && i < count; ++i) complete(before[indices[i]]);
}

MPI_API int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  if (!is_noted(CODE)) return mpi()->Waitall(count, requests, statuses);
  MPI_Request* before = copied(count, requests);
  const int outcome = mpi()->Waitall(count, requests, statuses);
  complete_all(count, before);
  free(before);
  return outcome;
}

MPI_API int MPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  if (!is_noted(CODE)) return mpi()->Testall(count, requests, flag, statuses);
  MPI_Request* before = copied(count, requests);
  const int outcome = mpi()->Testall(count, requests, flag, statuses);
  if (*flag) complete_all(count, before);
  free(before);
  return outcome;
}

MPI_API int MPI_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  if (!is_noted(CODE)) return mpi()->Waitany(count, requests, index, status);
  MPI_Request* before = copied(count, requests);
  const int outcome = mpi()->Waitany(count, requests, index, status);
  if (*index != MPI_UNDEFINED) complete(before[*index]);
  free(before);
  return outcome;
}

MPI_API int MPI_Testany(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  if (!is_noted(CODE)) return mpi()->Testany(count, requests, index, flag, status);
  MPI_Request* before = copied(count, requests);
  const int outcome = mpi()->Testany(count, requests, index, flag, status);
  if (*flag && *index != MPI_UNDEFINED) complete(before[*index]);
  free(before);
  return outcome;
}

MPI_API int MPI_Waitsome(int count, MPI_Request requests[], int* completed, int indices[], MPI_Status statuses[]) {
  if (!is_noted(CODE)) return mpi()->Waitsome(count, requests, completed, indices, statuses);
  MPI_Request* before = copied(count, requests);
  const int outcome = mpi()->Waitsome(count, requests, completed, indices, statuses);
  complete_some(*completed, indices, before);
  free(before);
  return outcome;
}

MPI_API int MPI_Testsome(int count, MPI_Request requests[], int* completed, int indices[], MPI_Status statuses[]) {
  if (!is_noted(CODE)) return mpi()->Testsome(count, requests, completed, indices, statuses);
  MPI_Request* before = copied(count, requests);
  const int outcome = mpi()->Testsome(count, requests, completed, indices, statuses);
  complete_some(*completed, indices, before);
  free(before);
  return outcome;
}

MPI_API int MPI_Request_free(MPI_Request* request) {
  if (is_noted(CODE)) take(*request, true);
  return mpi()->Request_free(request);
}

MPI_API int MPI_Type_free(MPI_Datatype* datatype) {
  if (is_noted(CODE)) buffers_forget(*datatype);
  return mpi()->Type_free(datatype);
}

/* Fortran's bindings and other tools call these names. */
#define ALSO(name) MPI_API __typeof__(name) P##name __attribute__((alias(#name)));
ALSO(MPI_Start)
ALSO(MPI_Startall)
ALSO(MPI_Wait)
ALSO(MPI_Test)
ALSO(MPI_Waitall)
ALSO(MPI_Testall)
ALSO(MPI_Waitany)
ALSO(MPI_Testany)
ALSO(MPI_Waitsome)
ALSO(MPI_Testsome)
ALSO(MPI_Request_free)
ALSO(MPI_Type_free)
