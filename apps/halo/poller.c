/* SPDX-License-Identifier: Apache-2.0
 *
 * See poller.h. The lock guards what has been added; the poller takes it over into arrays of its own.
 */
#include "poller.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>

enum { kMostRequests = 64 }; /* one per neighbour, direction, and even or odd iterations is under way: eight */

typedef struct {
  MPI_Request requests[kMostRequests];
  omp_event_handle_t events[kMostRequests];
  int count;
} Set;

static pthread_t poller;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t added_or_stopped = PTHREAD_COND_INITIALIZER;
static Set added;
static bool stopped;

static void put(Set* set, MPI_Request request, omp_event_handle_t event) {
  if (set->count == kMostRequests) {
    fprintf(stderr, "halo: more than %d messages are under way\n", kMostRequests);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  set->requests[set->count] = request;
  set->events[set->count++] = event;
}

void poller_add(MPI_Request request, omp_event_handle_t event) {
  pthread_mutex_lock(&lock);
  put(&added, request, event);
  pthread_cond_signal(&added_or_stopped);
  pthread_mutex_unlock(&lock);
}

/* False if the thread is to end. */
static bool take_over(Set* open) {
  pthread_mutex_lock(&lock);
  while (open->count == 0 && added.count == 0 && !stopped) {
    pthread_cond_wait(&added_or_stopped, &lock);
  }
  for (int i = 0; i < added.count; ++i) {
    put(open, added.requests[i], added.events[i]);
  }
  added.count = 0;
  pthread_mutex_unlock(&lock);
  return open->count > 0;
}

static void ask(Set* open) {
  int done[kMostRequests];
  int count = 0;
  MPI_Testsome(open->count, open->requests, &count, done, MPI_STATUSES_IGNORE);
  for (int i = 0; i < count; ++i) {
    omp_fulfill_event(open->events[done[i]]);
  }
  int kept = 0;
  for (int i = 0; i < open->count; ++i) {
    if (open->requests[i] != MPI_REQUEST_NULL) {
      open->requests[kept] = open->requests[i];
      open->events[kept++] = open->events[i];
    }
  }
  open->count = kept;
}

static void* poll(void* unused) {
  (void)unused;
  Set open = {.count = 0};
  while (take_over(&open)) {
    ask(&open);
    sched_yield();
  }
  return NULL;
}

bool poller_start(void) {
  stopped = false;
  return pthread_create(&poller, NULL, poll, NULL) == 0;
}

void poller_stop(void) {
  pthread_mutex_lock(&lock);
  stopped = true;
  pthread_cond_signal(&added_or_stopped);
  pthread_mutex_unlock(&lock);
  pthread_join(poller, NULL);
}
