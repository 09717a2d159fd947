/* SPDX-License-Identifier: Apache-2.0
 *
 * The hash table of a set of requests.
 */
#include "calls/request_set.h"

#include <stdlib.h>

#include "base/report.h"

enum { kFirstCapacity = 64 };

static bool is_empty(RequestSet* set) { return atomic_load_explicit(&set->count, memory_order_relaxed) == 0; }

static size_t home(const RequestSet* set, uintptr_t handle) {
  /* Fibonacci hashing (Knuth, TAOCP 3, 6.4). */
  return (size_t)((uint64_t)handle * 0x9e3779b97f4a7c15U >> 32) & (set->capacity - 1);
}

/* The slot of the handle, or the empty slot where it would be put. */
static size_t find(const RequestSet* set, uintptr_t handle) {
  size_t place = home(set, handle);
  while (set->table[place] != 0 && set->table[place] != handle) place = (place + 1) & (set->capacity - 1);
  return place;
}

static void grow(RequestSet* set) {
  uintptr_t* old = set->table;
  const size_t size = set->capacity;
  set->capacity = size > 0 ? 2 * size : kFirstCapacity;
  set->table = calloc(set->capacity, sizeof *set->table);
  if (set->table == NULL)
    report_fatal("no memory for %zu %s: free requests that are not needed", set->capacity / 2, set->of);
  for (size_t i = 0; i < size; ++i) {
    if (old[i] != 0) set->table[find(set, old[i])] = old[i];
  }
  free(old);
}

void request_set_add(RequestSet* set, MPI_Request request) {
  pthread_mutex_lock(&set->lock);
  const size_t now = atomic_load_explicit(&set->count, memory_order_relaxed);
  if (2 * (now + 1) > set->capacity) grow(set);
  const size_t place = find(set, (uintptr_t)request);
  atomic_store_explicit(&set->count, now + (set->table[place] == 0), memory_order_relaxed);
  set->table[place] = (uintptr_t)request;
  pthread_mutex_unlock(&set->lock);
}

/* Puts the handles after the removed one, up to the next empty slot, in again. */
void request_set_remove(RequestSet* set, MPI_Request request) {
  if (is_empty(set)) return;
  pthread_mutex_lock(&set->lock);
  const size_t last = set->capacity - 1;
  size_t place = find(set, (uintptr_t)request);
  if (set->table[place] == (uintptr_t)request) {
    atomic_fetch_sub_explicit(&set->count, 1, memory_order_relaxed);
    set->table[place] = 0;
    for (place = (place + 1) & last; set->table[place] != 0; place = (place + 1) & last) {
      const uintptr_t moved = set->table[place];
      set->table[place] = 0;
      set->table[find(set, moved)] = moved;
    }
  }
  pthread_mutex_unlock(&set->lock);
}

bool request_set_has_any(RequestSet* set, int number, const MPI_Request* requests) {
  if (is_empty(set)) return false;
  bool found = false;
  pthread_mutex_lock(&set->lock);
  for (int i = 0; i < number && !found; ++i) found = set->table[find(set, (uintptr_t)requests[i])] != 0;
  pthread_mutex_unlock(&set->lock);
  return found;
}
