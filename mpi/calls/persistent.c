/* SPDX-License-Identifier: Apache-2.0
 *
 * MPI_Start, MPI_Startall, MPI_Request_free. See persistent.h.
 *
 * The handles are in a table with open addressing, under a mutex. Only calls that make, start or free requests take it,
 * and only while there are persistent sends. A handle is removed when its request is freed. Until then no other request
 * has it, because MPI does not reuse the handle of an existing request.
 */
#include "calls/persistent.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/report.h"
#include "marline/marline.h"

enum { kFirstCapacity = 64 };

/* A handle in the table; an empty place holds 0, which is no request in either implementation. */
typedef uintptr_t Handle;

/* Taken where persistent requests are made, freed and started, for one look into the table. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Under the lock, but for `count`, which is also read without: relaxed, as who starts a request knows of its making. */
static Handle *table;
static size_t capacity; /* a power of two, at least twice the count */
static _Atomic size_t count;

static size_t home(Handle handle)
{
  return (size_t)((uint64_t)handle * 0x9e3779b97f4a7c15U >> 32) & (capacity - 1);
}

/* The place of the handle, or the empty one where it would stand. */
static size_t find(Handle handle)
{
  size_t place = home(handle);
  while (table[place] != 0 && table[place] != handle)
    place = (place + 1) & (capacity - 1);
  return place;
}

static void grow(void)
{
  Handle *old = table;
  const size_t size = capacity;
  capacity = size > 0 ? 2 * size : kFirstCapacity;
  table = calloc(capacity, sizeof *table);
  if (table == NULL)
    report_fatal("no memory for %zu persistent sends: free requests that are not needed", capacity / 2);
  for (size_t i = 0; i < size; ++i) {
    if (old[i] != 0)
      table[find(old[i])] = old[i];
  }
  free(old);
}

void persistent_made(int error, const MPI_Request *request)
{
  if (error != MPI_SUCCESS)
    return;
  pthread_mutex_lock(&lock);
  const size_t now = atomic_load_explicit(&count, memory_order_relaxed);
  if (2 * (now + 1) > capacity)
    grow();
  const size_t place = find((Handle)*request);
  atomic_store_explicit(&count, now + (table[place] == 0), memory_order_relaxed);
  table[place] = (Handle)*request;
  pthread_mutex_unlock(&lock);
}

/* Takes the handle out; what stands behind it up to the next empty place is put in anew. */
static void forget(Handle handle)
{
  pthread_mutex_lock(&lock);
  size_t place = find(handle);
  if (table[place] == handle) {
    atomic_fetch_sub_explicit(&count, 1, memory_order_relaxed);
    table[place] = 0;
    for (place = (place + 1) & (capacity - 1); table[place] != 0; place = (place + 1) & (capacity - 1)) {
      const Handle moved = table[place];
      table[place] = 0;
      table[find(moved)] = moved;
    }
  }
  pthread_mutex_unlock(&lock);
}

static bool any_sends(int number, const MPI_Request *requests)
{
  bool found = false;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < number && !found; ++i)
    found = table[find((Handle)requests[i])] != 0;
  pthread_mutex_unlock(&lock);
  return found;
}

static bool there_are_sends(void)
{
  return atomic_load_explicit(&count, memory_order_relaxed) != 0;
}

int MPI_Start(MPI_Request *request)
{
  PASS_ON_FROM_TOOL(start(request));
  if (there_are_sends() && any_sends(1, request))
    marline_task_sends();
  return next_mpi.start(request);
}

int MPI_Startall(int number, MPI_Request requests[])
{
  PASS_ON_FROM_TOOL(startall(number, requests));
  if (there_are_sends() && any_sends(number, requests))
    marline_task_sends();
  return next_mpi.startall(number, requests);
}

int MPI_Request_free(MPI_Request *request)
{
  PASS_ON_FROM_TOOL(request_free(request));
  if (request != NULL && there_are_sends()) /* a null pointer is for MPI to refuse */
    forget((Handle)*request);
  return next_mpi.request_free(request);
}

extern __typeof__(MPI_Start) PMPI_Start __attribute__((alias("MPI_Start")));
extern __typeof__(MPI_Startall) PMPI_Startall __attribute__((alias("MPI_Startall")));
extern __typeof__(MPI_Request_free) PMPI_Request_free __attribute__((alias("MPI_Request_free")));
