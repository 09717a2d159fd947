/* SPDX-License-Identifier: Apache-2.0
 *
 * See open_calls.h.
 *
 * Single requests, by far the most frequent, stand in an array of handles of their own and are asked for with
 * MPI_Testany, since that pays for MPI's progress once per call and only a few nanoseconds per request (Open MPI 4.1:
 * 53 ns for one, 330 ns for 64), and reports errors as a call for one request does: MPI_Testsome, otherwise as good,
 * hides the code behind MPI_ERR_IN_STATUS. Up to kRequestsPerPoll requests are all looked at in each poll. Of more, two
 * parts are: a window that goes round the array, so that each is looked at in turn; and the neighbours of those that
 * completed last, since messages mostly complete in the order in which their calls were posted. Without the second look
 * 10^5 messages that come one by one would each be noticed after half a round, which is quadratic. (The entry that
 * completes is replaced by the last, which turns the order around for half of the requests; hence neighbours on both
 * sides. A program has several such sequences at a time, from each neighbour and to it; hence several places.)
 *
 * The other calls (Waitall, Waitany, Waitsome, Probe) form a queue, a few of which are asked per poll; each asks for a
 * bounded number of its requests (kRequestsPerLook in engine.h).
 */
#include "engine/open_calls.h"

#include <limits.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/report.h"
#include "engine/counters.h"

enum {
  kWindow = 64,
  kWindowAfterHit = 8,
  kPlaces = 4,
  kNeighbours = 16,
  kRequestsPerPoll = 128,
  kCallsPerPoll = 8,
  kFirstCapacity = 256,
};

/* requests[i] is the handle of owners[i]; an entry that completes is replaced by the last. MPI counts in int, and so
 * does this; grow() ends the program before 2^31. */
typedef struct Requests {
  MPI_Request *requests;
  Pending **owners;
  int count;
  int capacity;
  int cursor; /* where the next window begins */
  int recent[kPlaces]; /* where ones were that had completed, no two of them neighbours */
  int oldest;          /* of these */
  int failed; /* delivered by deliver_failed() since the poll began */
} Requests;

/* A queue: what is asked in vain goes to the end. */
typedef struct Calls {
  Pending *first;
  Pending **last_link;
  int count;
} Calls;

static Requests open_requests;
static Calls other_calls = {.last_link = &other_calls.first};

static int least(int a, int b)
{
  return a < b ? a : b;
}

static void grow(Requests *open)
{
  const size_t capacity = open->capacity > 0 ? 2 * (size_t)open->capacity : kFirstCapacity;
  void *requests = capacity <= INT_MAX ? realloc(open->requests, capacity * sizeof *open->requests) : NULL;
  void *owners = requests != NULL ? realloc(open->owners, capacity * sizeof *open->owners) : NULL;
  if (owners == NULL)
    report_fatal("no memory for %zu open MPI requests: let fewer tasks communicate at a time", capacity);
  open->requests = requests;
  open->owners = owners;
  open->capacity = (int)capacity;
}

void open_calls_admit(Pending *pending)
{
  if (pending->finished != NULL) {
    pending->next = NULL;
    *other_calls.last_link = pending;
    other_calls.last_link = &pending->next;
    ++other_calls.count;
    return;
  }
  if (open_requests.count == open_requests.capacity)
    grow(&open_requests);
  open_requests.requests[open_requests.count] = pending->request;
  open_requests.owners[open_requests.count] = pending;
  ++open_requests.count;
}

static void tell(Pending *pending)
{
  counters_of_hit();
  if (pending->completed != NULL) {
    pending->completed(pending);
    return;
  }
  if (counters_time())
    pending->seen = counters_clock();
  marline_event_fulfill(&pending->event);
}

/* Takes entry i out, then gives its task the result. In this order: what the entry points to may be gone after it. */
static void deliver(Requests *open, int i, const MPI_Status *status, int error)
{
  Pending *pending = open->owners[i];
  pending->request = open->requests[i];
  pending->error = error;
  if (pending->status != MPI_STATUS_IGNORE) {
    const int kept = pending->status->MPI_ERROR; /* untouched by calls with one status (MPI 3.1, 3.2.5) */
    *pending->status = *status;
    pending->status->MPI_ERROR = kept;
  }
  --open->count;
  open->owners[i] = open->owners[open->count];
  open->requests[i] = open->requests[open->count];
  tell(pending);
}

/* Entry `hit` of [begin, begin + size) has failed. Open MPI 4.1 frees others that have failed, too, and tells nobody
 * (ompi_errhandler_request_invoke): these get the same code, and their handler is called. From the end, as entries that
 * leave are replaced by the last. */
static void deliver_failed(Requests *open, int begin, int size, int hit, const MPI_Status *status, int error)
{
  const MPI_Request null = library_request_null();
  const MPI_Status nothing = {0};
  for (int i = begin + size - 1; i >= begin; --i) {
    if (i == hit) {
      deliver(open, i, status, error);
    } else if (open->requests[i] == null) {
      const MpiCall *call = open->owners[i]->call;
      if (call != NULL && call->comm != (MPI_Comm)0)
        next_mpi.comm_call_errhandler(call->comm, error);
      deliver(open, i, &nothing, error);
      ++open->failed;
    }
  }
}

/* Remembers the place: of the sequence that it goes on with, or of a new one. */
static void note_place(Requests *open, int place)
{
  for (int i = 0; i < kPlaces; ++i) {
    if (abs(open->recent[i] - place) <= kNeighbours) {
      open->recent[i] = place;
      return;
    }
  }
  open->recent[open->oldest] = place;
  open->oldest = (open->oldest + 1) % kPlaces;
}

/* Asks about entries [begin, begin + size). One that has completed is delivered, and its place returned; -1: none. */
static int poll_window(Requests *open, int begin, int size)
{
  int index = 0;
  int flag = 0;
  MPI_Status status;
  const int error = next_mpi.testany(size, open->requests + begin, &index, &flag, &status);
  if (error != MPI_SUCCESS && !flag)
    report_fatal("MPI_Testany on %d requests of suspended tasks failed with MPI error %d: was a request that a task "
                 "waits for freed by another task?", size, error);
  if (!flag)
    return -1;
  if (index == MPI_UNDEFINED)
    report_fatal("a request that a task waits for is no longer active: was it completed by another task?");
  note_place(open, begin + index);
  if (error == MPI_SUCCESS)
    deliver(open, begin + index, &status, error);
  else
    deliver_failed(open, begin, size, begin + index, &status, error);
  return begin + index;
}

/* The window that goes round, over `left` entries. After a hit, look at those behind it. */
static int poll_in_turn(Requests *open, int left)
{
  int found = 0;
  int window = kWindow;
  while (left > 0 && open->count > 0) {
    if (open->cursor >= open->count)
      open->cursor = 0;
    const int size = least(window, open->count - open->cursor);
    const int hit = poll_window(open, open->cursor, size);
    left -= hit < 0 ? size : hit - open->cursor + 1;
    open->cursor = hit < 0 ? open->cursor + size : hit;
    window = hit < 0 ? kWindow : kWindowAfterHit;
    found += hit >= 0;
  }
  return found;
}

/* As long as there are hits, and over no more than `left` of them. */
static int poll_neighbours(Requests *open, int place, int left)
{
  int found = 0;
  for (; found < left && open->count > 0; ++found) {
    int begin = least(open->recent[place], open->count) - kNeighbours / 2;
    begin = begin > 0 ? begin : 0;
    if (poll_window(open, begin, least(kNeighbours, open->count - begin)) < 0)
      break;
  }
  return found;
}

static int poll_requests(Requests *open)
{
  if (open->count <= kRequestsPerPoll)
    return poll_in_turn(open, open->count);
  int found = 0;
  for (int i = 0; i < kPlaces; ++i)
    found += poll_neighbours(open, i, kRequestsPerPoll / 2 / kPlaces);
  return found + poll_in_turn(open, least(open->count, kRequestsPerPoll / 2));
}

static int poll_calls(Calls *open)
{
  int found = 0;
  for (int i = least(open->count, kCallsPerPoll); i > 0; --i) {
    Pending *pending = open->first;
    open->first = pending->next;
    if (open->first == NULL)
      open->last_link = &open->first;
    --open->count;
    if (pending->finished(pending)) {
      tell(pending);
      ++found;
    } else {
      open_calls_admit(pending);
    }
  }
  return found;
}

void engine_cancel_receives(const struct marline_mpi_speculation *scope)
{
  for (int i = 0; i < open_requests.count; ++i) {
    Pending *owner = open_requests.owners[i];
    if (owner->cancelled || owner->call == NULL || owner->call->scope != scope)
      continue;
    owner->cancelled = true;
    next_mpi.cancel(&open_requests.requests[i]);
  }
}

int open_calls_poll(void)
{
  counters_of_poll();
  open_requests.failed = 0;
  const int found = poll_requests(&open_requests) + poll_calls(&other_calls);
  return found + open_requests.failed;
}

int open_calls_count(void)
{
  return open_requests.count + other_calls.count;
}

void open_calls_clear(void)
{
  free(open_requests.requests);
  free(open_requests.owners);
  open_requests = (Requests){0};
  other_calls = (Calls){.last_link = &other_calls.first};
}
