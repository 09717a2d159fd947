/* SPDX-License-Identifier: Apache-2.0
 *
 * Polls MPI for the open calls.
 *
 * There are two sets: single requests, by far the most frequent, and calls that test themselves. probes.h has the
 * probes, and Several (pending.h) puts the requests of a call into the first set. So the second set has, mostly, calls
 * for too many requests, and probes if too many communicators have probes.
 *
 * The requests are in an array of handles and are tested with MPI_Testany, because one call makes MPI's progress once,
 * costs only a few nanoseconds per request (Open MPI 4.1: 53 ns for one, 330 ns for 64), and reports errors as a call
 * for one request does: MPI_Testsome, otherwise as good, returns MPI_ERR_IN_STATUS in place of the code. The calls are
 * tested one by one, at 50 to 150 ns each, and each tests a bounded number of its requests (kRequestsPerLook in
 * pending.h), except for the first time, when it looks for its open requests among all.
 *
 * A poll tests all of a small set (Limits). Of a larger set it tests two parts: a window that moves round the set, so
 * that each entry is tested in turn; and the neighbours of the entries that completed last, because messages mostly
 * complete in the order in which their calls were posted. Without the second part, each of 10^5 messages that come one
 * by one would be found after half a round, which is quadratic. (The entry that completes is replaced by the last one,
 * which reverses the order for half of them; hence neighbours on both sides. A program has several such sequences at a
 * time, from each neighbour rank and to it; hence several places.)
 */
#include "engine/open_calls.h"

#include <limits.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/report.h"
#include "engine/counters.h"
#include "engine/probes.h"

enum { kPlaces = 4, kFirstCapacity = 256 };

/* How many entries a poll tests. Of a set larger than `all`, it tests `in_turn` entries in turn, and, at the places,
 * as long as entries complete, up to the same number of them. */
typedef struct Limits {
  int all;              /* a set up to this size is tested completely */
  int in_turn;          /* at least `window` */
  int window;           /* tested by one call */
  int window_after_hit; /* the same, when an entry has just completed */
  int neighbours;       /* tested around a place */
  int places;           /* places tested in a poll: the newest, and others by turns */
} Limits;

/* An entry that completes is replaced by the last one. MPI counts in int, and so does this; grow() ends the program
 * before 2^31. */
typedef struct Open {
  const Limits limits;
  const bool has_requests;
  MPI_Request* requests; /* the handle of owners[i], if it has_requests */
  Pending** owners;
  int count;
  int capacity;
  int cursor;          /* where the next window begins */
  int recent[kPlaces]; /* positions at which entries have completed, no two of them neighbours */
  int oldest;          /* index of the oldest position, which is replaced next */
  int newest;
  int turn; /* counts the other places that were tested */
} Open;

static Open open_requests = {
    .limits = {.all = 128, .in_turn = 64, .window = 64, .window_after_hit = 8, .neighbours = 16, .places = kPlaces},
    .has_requests = true};
static Open other_calls = {
    .limits = {.all = 32, .in_turn = 24, .window = 24, .window_after_hit = 24, .neighbours = 4, .places = 2}};
static int calls;                          /* calls posted and not reported yet; a call of several parts is one */
static int reported;                       /* calls reported since the poll began */
static Pending* failed;                    /* taken out with an error, to be reported one by one */
enum { kAmongFailed = -1, kNowhere = -2 }; /* Pending.place, which is an index otherwise */

static int least(int a, int b) { return a < b ? a : b; }

static void grow(Open* open) {
  const size_t capacity = open->capacity > 0 ? 2 * (size_t)open->capacity : kFirstCapacity;
  const bool fits = capacity <= INT_MAX;
  void* owners = fits ? realloc(open->owners, capacity * sizeof *open->owners) : NULL;
  void* requests =
      owners == NULL || !open->has_requests ? owners : realloc(open->requests, capacity * sizeof *open->requests);
  if (requests == NULL)
    report_fatal("no memory for %zu open calls of MPI: let fewer tasks communicate at a time", capacity);
  open->owners = owners;
  open->requests = open->has_requests ? requests : NULL;
  open->capacity = (int)capacity;
}

static void put(Open* open, Pending* pending) {
  if (open->count == open->capacity) grow(open);
  if (open->has_requests) open->requests[open->count] = pending->request;
  open->owners[open->count] = pending;
  pending->place = open->count;
  ++open->count;
}

static Pending* take_out(Open* open, int i) {
  Pending* pending = open->owners[i];
  --open->count;
  open->owners[i] = open->owners[open->count];
  open->owners[i]->place = i;
  if (open->has_requests) open->requests[i] = open->requests[open->count];
  pending->place = kNowhere;
  return pending;
}

static bool has_parts(const Pending* call) { return call->several != NULL && call->several->count > 0; }

/* From now on, polls test this call. */
static void put_call(Pending* call) {
  if (call->is_probe && probes_put(call)) return;
  if (!has_parts(call)) {
    put(call->finished == NULL ? &open_requests : &other_calls, call);
    return;
  }
  for (int i = 0; i < call->several->count; ++i) put(&open_requests, &call->several->parts[i]);
}

void open_calls_admit(Pending* pending) {
  ++calls;
  put_call(pending);
}

static void take_out_of_failed(Pending* part) {
  Pending** link = &failed;
  while (*link != part) link = &(*link)->next;
  *link = part->next;
}

/* Takes out the other parts, which are not tested any more. Returns the parts that have failed, too, linked by
 * `next`. */
static Pending* take_out_others(Several* several) {
  Pending* failed_too = NULL;
  for (Pending* other = several->parts; other < several->parts + several->count; ++other) {
    if (other->place == kAmongFailed) {
      take_out_of_failed(other);
      other->next = failed_too;
      failed_too = other;
    } else if (other->place != kNowhere) {
      take_out(&open_requests, other->place);
    }
  }
  several->count = 0;
  return failed_too;
}

/* A part has completed: returns true if its call has its result. */
static bool completes_the_whole(Pending* part) {
  Several* several = part->several;
  Pending* failed_too = take_out_others(several);
  if (!several->part_completed(several, part)) {
    put_call(several->whole);
    return false;
  }
  for (; failed_too != NULL; failed_too = failed_too->next) several->part_failed_too(several, failed_too);
  return true;
}

static void report(Pending* pending) {
  if (pending->several != NULL && pending->several->whole != pending) {
    if (!completes_the_whole(pending)) return;
    pending = pending->several->whole;
  }
  ++reported;
  --calls;
  counters_of_hit();
  if (pending->completed != NULL) {
    pending->completed(pending);
    return;
  }
  if (counters_time()) pending->seen = counters_clock();
  marline_event_fulfill(&pending->event);
}

/* Takes entry i out, with the result. `status` is NULL if it is not known. */
static Pending* take_result(Open* open, int i, const MPI_Status* status, int error) {
  Pending* pending = open->owners[i];
  pending->request = open->requests[i];
  pending->error = error;
  if (pending->status != MPI_STATUS_IGNORE && status != NULL) {
    const int kept = pending->status->MPI_ERROR; /* calls with one status leave it as it is (MPI 3.1, 3.2.5) */
    *pending->status = *status;
    pending->status->MPI_ERROR = kept;
  }
  return take_out(open, i);
}

static void add_to_failed(Pending* pending) {
  pending->next = failed;
  pending->place = kAmongFailed;
  failed = pending;
}

/* Entry `hit` of [begin, begin + size) has failed. Open MPI 4.1 frees other requests that have failed, too, and does
 * not report them (ompi_errhandler_request_invoke): they get the same code here, and their handler is called. It may
 * even free a request that another thread has yet to complete (docs/guide/mpi.md), which cannot be prevented here.
 * Goes from the end, because an entry that leaves is replaced by the last one. All leave before the first is
 * reported, because a report may take others out. `hit` is reported first: the parts of a call have one status,
 * which is the status of `hit`. */
static void deliver_failed(Open* open, int begin, int size, int hit, const MPI_Status* status, int error) {
  const MPI_Request null = MPI_REQUEST_NULL;
  const Pending* first = open->owners[hit];
  for (int i = begin + size - 1; i >= begin; --i) {
    if (i >= open->count || open->owners[i] == first || open->requests[i] != null) continue;
    const MpiCall* call = open->owners[i]->call;
    if (call != NULL && call->comm != (MPI_Comm)0) next_mpi.comm_call_errhandler(call->comm, error);
    add_to_failed(take_result(open, i, NULL, error));
  }
  add_to_failed(take_result(open, first->place, status, error));
  while (failed != NULL) {
    Pending* pending = failed;
    failed = pending->next;
    pending->place = kNowhere;
    report(pending);
  }
}

/* Remembers the place: in the sequence that it continues, or as a new one. */
static void note_place(Open* open, int place) {
  for (int i = 0; i < kPlaces; ++i) {
    if (abs(open->recent[i] - place) <= open->limits.neighbours) {
      open->recent[i] = place;
      open->newest = i;
      return;
    }
  }
  open->recent[open->oldest] = place;
  open->newest = open->oldest;
  open->oldest = (open->oldest + 1) % kPlaces;
}

/* Tests entries [begin, begin + size). If one has completed, delivers it and returns its place; else returns -1. */
static int poll_requests(Open* open, int begin, int size) {
  int index = 0;
  int flag = 0;
  MPI_Status status;
  const int error = next_mpi.testany(size, open->requests + begin, &index, &flag, &status);
  if (error != MPI_SUCCESS && !flag)
    report_fatal(
        "MPI_Testany on %d requests of suspended tasks failed with MPI error %d: was a request that a task "
        "waits for freed by another task?",
        size, error);
  if (!flag) return -1;
  if (index == MPI_UNDEFINED)
    report_fatal("a request that a task waits for is no longer active: was it completed by another task?");
  note_place(open, begin + index);
  if (error == MPI_SUCCESS)
    report(take_result(open, begin + index, &status, error)); /* its Pending may no longer exist then */
  else
    deliver_failed(open, begin, size, begin + index, &status, error);
  return begin + index;
}

/* Does the same for calls that test themselves. */
static int poll_calls(Open* open, int begin, int size) {
  for (int i = begin; i < begin + size; ++i) {
    Pending* call = open->owners[i];
    const bool done = call->finished(call);
    if (!done && !has_parts(call)) continue;
    note_place(open, i);
    take_out(open, i);
    if (done)
      report(call);
    else
      put_call(call);
    return i;
  }
  return -1;
}

static int poll_window(Open* open, int begin, int size) {
  return open->has_requests ? poll_requests(open, begin, size) : poll_calls(open, begin, size);
}

/* Tests `left` entries by the window that goes round. After a hit, the window stays at that place and is smaller. */
static void poll_in_turn(Open* open, int left) {
  int window = open->limits.window;
  while (left > 0 && open->count > 0) {
    if (open->cursor >= open->count) open->cursor = 0;
    const int size = least(window, open->count - open->cursor);
    const int hit = poll_window(open, open->cursor, size);
    left -= hit < 0 ? size : hit - open->cursor + 1;
    open->cursor = hit < 0 ? open->cursor + size : hit;
    window = hit < 0 ? open->limits.window : open->limits.window_after_hit;
  }
}

/* Tests the neighbours of a place as long as there are hits, at most `left` of them. */
static void poll_neighbours(Open* open, int place, int left) {
  const int neighbours = open->limits.neighbours;
  for (int found = 0; found < left && open->count > 0; ++found) {
    int begin = least(open->recent[place], open->count) - neighbours / 2;
    begin = begin > 0 ? begin : 0;
    if (poll_window(open, begin, least(neighbours, open->count - begin)) < 0) break;
  }
}

static void poll_set(Open* open) {
  const Limits* limits = &open->limits;
  if (open->count <= limits->all) {
    poll_in_turn(open, open->count);
    return;
  }
  poll_neighbours(open, open->newest, limits->in_turn / limits->places);
  for (int i = 1; i < limits->places; ++i) {
    const int other = (open->newest + 1 + open->turn) % kPlaces;
    open->turn = (open->turn + 1) % (kPlaces - 1);
    poll_neighbours(open, other, limits->in_turn / limits->places);
  }
  poll_in_turn(open, least(open->count, limits->in_turn));
}

void open_calls_cancel_receives(const struct marline_mpi_speculation* scope) {
  for (int i = 0; i < open_requests.count; ++i) {
    Pending* owner = open_requests.owners[i];
    if (owner->cancelled || owner->call == NULL || owner->call->scope != scope) continue;
    owner->cancelled = true;
    next_mpi.cancel(&open_requests.requests[i]);
  }
}

int open_calls_poll(void) {
  counters_of_poll();
  reported = 0;
  poll_set(&open_requests);
  poll_set(&other_calls);
  probes_poll(report);
  return reported;
}

int open_calls_count(void) { return calls; }

static void clear(Open* open) {
  free(open->requests);
  free(open->owners);
  open->requests = NULL;
  open->owners = NULL;
  open->count = open->capacity = 0;
}

void open_calls_clear(void) {
  clear(&open_requests);
  clear(&other_calls);
  probes_clear();
  calls = 0;
}
