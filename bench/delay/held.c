/* SPDX-License-Identifier: Apache-2.0
 *
 * A hash table of chains that grows with the number of requests. See held.h.
 */
#include "held.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "delay.h"
#include "links.h"
#include "next.h"
#include "stamps.h"

enum { kFirstChains = 1024 };

typedef struct Entry {
  struct Entry* next;
  MPI_Request request;
  uint64_t stamp;
  int64_t due; /* 0: MPI has not been seen to be done with it */
} Entry;

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static Entry** chains;
static size_t chain_count;
static size_t entry_count;
static Entry* spare; /* never freed: complete requests may share a handle, and so two threads may ask for one entry */

/* Table ------------------------------------------------------------------------------------------------------------ */

/* A handle is a pointer in one implementation and an integer in the other. */
static uint64_t hash(MPI_Request request) {
  uint64_t bits = 0;
  memcpy(&bits, &request, sizeof request);
  return bits * 0x9E3779B97F4A7C15U >> 24;
}

static Entry** chain_of(MPI_Request request) { return &chains[hash(request) % chain_count]; }

static void grow(void) {
  Entry** old = chains;
  const size_t old_count = chain_count;
  chain_count = old_count > 0 ? 4 * old_count : kFirstChains;
  chains = calloc(chain_count, sizeof(Entry*));
  if (chains == NULL) {
    fprintf(stderr, "mpi-delay: no memory for %zu open requests\n", entry_count);
    abort();
  }
  for (size_t i = 0; i < old_count; ++i)
    for (Entry* entry = old[i]; entry != NULL;) {
      Entry* rest = entry->next;
      Entry** chain = chain_of(entry->request);
      entry->next = *chain;
      *chain = entry;
      entry = rest;
    }
  free(old);
}

void held_add(MPI_Request request, uint64_t stamp) {
  if (!delay_is_on() || request == MPI_REQUEST_NULL) return;
  pthread_mutex_lock(&table_lock);
  Entry* entry = spare != NULL ? spare : malloc(sizeof *entry);
  if (entry == NULL) abort();
  if (entry == spare) spare = entry->next;
  if (entry_count++ >= chain_count) grow();
  Entry** chain = chain_of(request);
  *entry = (Entry){.next = *chain, .request = request, .stamp = stamp};
  *chain = entry;
  pthread_mutex_unlock(&table_lock);
}

static Entry* find(MPI_Request request) {
  pthread_mutex_lock(&table_lock);
  Entry* entry = chain_count > 0 ? *chain_of(request) : NULL;
  while (entry != NULL && entry->request != request) entry = entry->next;
  pthread_mutex_unlock(&table_lock);
  return entry;
}

void held_forget(MPI_Request request) {
  if (!delay_is_on()) return;
  pthread_mutex_lock(&table_lock);
  Entry** link = chain_count > 0 ? chain_of(request) : NULL;
  while (link != NULL && *link != NULL && (*link)->request != request) link = &(*link)->next;
  Entry* entry = link != NULL ? *link : NULL;
  if (entry != NULL) {
    *link = entry->next;
    --entry_count;
    entry->next = spare;
    spare = entry;
  }
  pthread_mutex_unlock(&table_lock);
}

/* Time ------------------------------------------------------------------------------------------------------------- */

static int64_t due_time(uint64_t stamp) {
  const int64_t now = delay_now();
  const int64_t noted = stamp != 0 ? stamps_read(stamp, now) : -1;
  if (noted >= 0) return noted + delay_length();
  if (links_are_there()) return stamp != 0 ? links_last() : now + links_latency();
  return now + delay_length();
}

bool held(MPI_Request request) {
  if (request == MPI_REQUEST_NULL || !delay_is_on()) return false;
  Entry* entry = find(request);
  if (entry == NULL) return false;
  if (entry->due == 0) {
    int complete = 0;
    MPI_Status status;
    next.Request_get_status(request, &complete, &status);
    if (!complete) return true;
    entry->due = due_time(entry->stamp);
  }
  if (delay_now() < entry->due) return true;
  held_forget(request);
  return false;
}

bool any_held(int count, const MPI_Request* requests) {
  bool found = false; /* all are asked for, so that each is seen when it completes */
  for (int i = 0; i < count; ++i) found |= held(requests[i]);
  return found;
}

void linger(uint64_t stamp) {
  if (!delay_is_on()) return;
  const int64_t due = due_time(stamp);
  while (delay_now() < due) delay_pause();
}
