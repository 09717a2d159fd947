/* SPDX-License-Identifier: Apache-2.0
 *
 * Posting and polling. See engine.h.
 *
 * Posting threads and the poller meet in one place, the inbox: a stack that anyone pushes to and the poller takes
 * whole. Everything else is the poller's alone, and Marline calls a hook from one thread at a time, each call seeing
 * what the last one wrote; hence no lock, and a task that posts never waits for one that asks MPI.
 *
 * Single requests, by far the most frequent, stand in an array of handles of their own and are asked for with
 * MPI_Testany, since that pays for MPI's progress once per call and only a few nanoseconds per request (Open MPI 4.1:
 * 53 ns for one, 330 ns for 64), and reports errors as a call for one request does: MPI_Testsome, otherwise as good,
 * hides the code behind MPI_ERR_IN_STATUS. Windows go round the array, so the cost of a poll is bounded however many
 * requests are open, and each is looked at in turn. The other calls (Waitall, Waitany, Probe) form a queue, a few of
 * which are asked per poll.
 */
#include "engine.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

#include "../pmpi/caller.h"
#include "report.h"
#include "waiting.h"

enum { kWindow = 64, kWindowAfterHit = 8, kRequestsPerPoll = 128, kCallsPerPoll = 8, kFirstCapacity = 256 };

/* The poller's. requests[i] is the handle of owners[i]; an entry that completes is replaced by the last. */
typedef struct Requests {
  MPI_Request *requests;
  Pending **owners;
  int count;
  int capacity;
  int cursor; /* where the next window begins */
} Requests;

/* The poller's. A queue: what is asked in vain goes to the end. */
typedef struct Calls {
  Pending *first;
  Pending **last_link;
  int count;
} Calls;

/* Pushed by tasks (release), emptied by the poller (acquire): what a task wrote into its Pending is seen by it. */
static _Atomic(Pending *) inbox;
static Requests open_requests;
static Calls open_calls = {.last_link = &open_calls.first};

/* Written before the program creates its first task after MPI_Init, and at MPI_Finalize. Read by every intercepted
 * call: a thread that calls MPI must know of MPI_Init's return, so relaxed is enough. */
static _Atomic(marline_hook_t *) hook;

bool engine_is_running(void)
{
  return atomic_load_explicit(&hook, memory_order_relaxed) != NULL;
}

bool may_suspend(const void *return_address)
{
  return engine_is_running() && marline_can_suspend() == 1 && caller_of(return_address) == kCallerUser;
}

/* Posting ---------------------------------------------------------------------------------------------------------- */

void engine_watch(Pending *pending)
{
  /* First the count, then the operation: in the other order the poller could finish it and count it down before it was
   * counted up. A poll in between finds an empty inbox and comes again, as the count is positive. */
  marline_progress_add(atomic_load_explicit(&hook, memory_order_relaxed), 1);
  Pending *head = atomic_load_explicit(&inbox, memory_order_relaxed);
  do {
    pending->next = head;
  } while (!atomic_compare_exchange_weak_explicit(&inbox, &head, pending, memory_order_release, memory_order_relaxed));
}

void engine_wait(Pending *pending)
{
  marline_event_init(&pending->event);
  if (pending->call == NULL) {
    engine_watch(pending);
    marline_event_wait(&pending->event);
    return;
  }
  const marline_wait_t wait = waiting_in(pending->call); /* before the poller may touch the Pending */
  engine_watch(pending);
  marline_event_wait_for(&pending->event, &wait);
}

int engine_complete(MPI_Request *request, MPI_Status *status, const MpiCall *call)
{
  int flag = 0;
  const int error = next_mpi.test(request, &flag, status);
  if (error != MPI_SUCCESS || flag)
    return error;
  Pending pending = {.request = *request, .status = status, .error = MPI_SUCCESS, .call = call};
  engine_wait(&pending);
  *request = pending.request;
  return pending.error;
}

/* Polling ---------------------------------------------------------------------------------------------------------- */

static void grow(Requests *open)
{
  const int capacity = open->capacity > 0 ? 2 * open->capacity : kFirstCapacity;
  void *requests = realloc(open->requests, (size_t)capacity * sizeof *open->requests);
  void *owners = realloc(open->owners, (size_t)capacity * sizeof *open->owners);
  if (requests == NULL || owners == NULL)
    report_fatal("no memory for %d open MPI requests: let fewer tasks communicate at a time", capacity);
  open->requests = requests;
  open->owners = owners;
  open->capacity = capacity;
}

static void admit(Pending *pending)
{
  if (pending->finished != NULL) {
    pending->next = NULL;
    *open_calls.last_link = pending;
    open_calls.last_link = &pending->next;
    ++open_calls.count;
    return;
  }
  if (open_requests.count == open_requests.capacity)
    grow(&open_requests);
  open_requests.requests[open_requests.count] = pending->request;
  open_requests.owners[open_requests.count] = pending;
  ++open_requests.count;
}

static void empty_inbox(void)
{
  if (atomic_load_explicit(&inbox, memory_order_relaxed) == NULL)
    return;
  Pending *newest = atomic_exchange_explicit(&inbox, NULL, memory_order_acquire);
  Pending *oldest = NULL; /* reversed: first posted, first asked */
  while (newest != NULL) {
    Pending *next = newest->next;
    newest->next = oldest;
    oldest = newest;
    newest = next;
  }
  while (oldest != NULL) {
    Pending *next = oldest->next;
    admit(oldest);
    oldest = next;
  }
}

static void tell(Pending *pending)
{
  if (pending->completed != NULL)
    pending->completed(pending);
  else
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

/* Asks about up to `window` requests from the cursor on. True if one has completed: its task has been told, and the
 * cursor is where it was. Otherwise the cursor is behind those that are still open. */
static bool poll_window(Requests *open, int window)
{
  int index = 0;
  int flag = 0;
  MPI_Status status;
  const int size = open->count - open->cursor < window ? open->count - open->cursor : window;
  const int error = next_mpi.testany(size, open->requests + open->cursor, &index, &flag, &status);
  if (error != MPI_SUCCESS && !flag)
    report_fatal("MPI_Testany on %d requests of suspended tasks failed with MPI error %d: was a request that a task "
                 "waits for freed by another task?", size, error);
  if (!flag) {
    open->cursor += size;
    return false;
  }
  if (index == MPI_UNDEFINED)
    report_fatal("a request that a task waits for is no longer active: was it completed by another task?");
  open->cursor += index;
  deliver(open, open->cursor, &status, error);
  return true;
}

/* Messages tend to complete in bursts and in order: after a hit, look at its neighbours. */
static int poll_requests(Requests *open)
{
  int found = 0;
  int window = kWindow;
  int left = open->count < kRequestsPerPoll ? open->count : kRequestsPerPoll;
  while (left > 0) {
    if (open->cursor >= open->count)
      open->cursor = 0;
    const int begin = open->cursor;
    const bool hit = poll_window(open, window);
    found += hit;
    left -= open->cursor - begin + hit;
    window = hit ? kWindowAfterHit : kWindow;
  }
  return found;
}

static int poll_calls(Calls *open)
{
  int found = 0;
  for (int i = open->count < kCallsPerPoll ? open->count : kCallsPerPoll; i > 0; --i) {
    Pending *pending = open->first;
    open->first = pending->next;
    if (open->first == NULL)
      open->last_link = &open->first;
    --open->count;
    if (pending->finished(pending)) {
      tell(pending);
      ++found;
    } else {
      admit(pending);
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

static int poll(void *unused)
{
  (void)unused;
  empty_inbox();
  const int found = poll_requests(&open_requests) + poll_calls(&open_calls);
  if (found > 0)
    marline_progress_add(atomic_load_explicit(&hook, memory_order_relaxed), -found);
  return found;
}

/* Start and stop --------------------------------------------------------------------------------------------------- */

void engine_start(int thread_level)
{
  if (thread_level < MPI_THREAD_MULTIPLE) {
    report_warning("this MPI library provides thread level %d, not MPI_THREAD_MULTIPLE (%d): blocking calls in tasks "
                   "hold their thread; use an MPI built with thread support", thread_level, MPI_THREAD_MULTIPLE);
    return;
  }
  marline_hook_t *registered = marline_progress_register("MPI", poll, NULL);
  if (registered == NULL)
    report_warning("all of Marline's progress hooks are taken: blocking MPI calls in tasks hold their thread; "
                   "unregister one before MPI_Init");
  atomic_store_explicit(&hook, registered, memory_order_relaxed);
}

void engine_stop(void)
{
  marline_hook_t *registered = atomic_load_explicit(&hook, memory_order_relaxed);
  if (registered == NULL)
    return;
  /* The last task may have been told, and the program have come here, while the poller has yet to count it down: the
   * pointer stays until no poll is under way. */
  marline_progress_unregister(registered);
  atomic_store_explicit(&hook, NULL, memory_order_relaxed);
  empty_inbox(); /* nobody polls any more: the poller's data is ours */
  const int left = open_requests.count + open_calls.count;
  if (left > 0)
    report_warning("MPI_Finalize is called while %d tasks wait in MPI calls: they will not resume", left);
  free(open_requests.requests);
  free(open_requests.owners);
  open_requests = (Requests){0};
}
