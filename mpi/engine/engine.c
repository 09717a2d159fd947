/* SPDX-License-Identifier: Apache-2.0
 *
 * Posts operations, and starts the poller. The polls are in open_calls.c.
 *
 * Posting threads and the poller share only the inbox: a stack to which any thread may push and which the poller takes
 * as a whole. Only the poller uses the other data. The poller is either a progress hook, which Marline calls from one
 * thread at a time, so that each call sees what the previous one wrote; or a thread of this library
 * (progress_thread.h). So there is no lock, and a task that posts never waits for a thread that polls MPI.
 */
#include "engine/engine.h"

#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>

#include "../pmpi/caller.h"
#include "base/options.h"
#include "base/report.h"
#include "comm/order.h"
#include "engine/counters.h"
#include "engine/open_calls.h"
#include "engine/owner.h"
#include "engine/progress_thread.h"
#include "engine/run_ahead.h"
#include "engine/waiting.h"
#include "marline/devices.h"

/* Pushed by tasks (release), emptied by the poller (acquire): the poller sees what a task wrote into its Pending. */
static _Atomic(Pending*) inbox;

typedef enum Poller { kNobody, kHook, kThread } Poller;

/* Both are written before the program creates its first task after MPI_Init, and at MPI_Finalize. Every intercepted
 * call reads them: a thread that calls MPI must know that MPI_Init has returned, so relaxed is enough. */
static _Atomic Poller poller;
static marline_hook_t* hook;
/* If ranks share cores, a thread that waits in MPICH keeps its core from the rank for which it waits. So the
 * program's blocking calls outside of tasks are made by their nonblocking forms, too, and the thread polls and gives
 * its core away in between. Open MPI does so itself. Written with `poller`. */
static _Atomic bool leaves_core;

static Poller current_poller(void) { return atomic_load_explicit(&poller, memory_order_relaxed); }

bool engine_is_running(void) { return current_poller() != kNobody; }

bool may_suspend(const void* return_address) {
  return engine_is_running() && marline_can_suspend() == 1 && caller_of(return_address) == kCallerUser;
}

static bool gives_core_away(void) { return atomic_load_explicit(&leaves_core, memory_order_relaxed); }

bool engine_takes(const void* return_address) {
  if (marline_is_called_back() == 1) /* the poller may be below, on this thread's stack */
    return false;
  if (may_suspend(return_address)) return true;
  if (owner_exists()) return !owner_is_me() && engine_is_running();
  return gives_core_away() && caller_of(return_address) == kCallerUser;
}

/* Posting ---------------------------------------------------------------------------------------------------------- */

static void count(int operations) {
  if (current_poller() == kThread)
    progress_thread_add(operations);
  else
    marline_progress_add(hook, operations);
}

void engine_watch(Pending* pending) {
  /* First the count, then the operation: in the other order the poller could finish the operation and count it down
   * before it was counted up. A poll in between finds an empty inbox and comes again, because the count is positive. */
  count(1);
  Pending* head = atomic_load_explicit(&inbox, memory_order_relaxed);
  do {
    pending->next = head;
  } while (!atomic_compare_exchange_weak_explicit(&inbox, &head, pending, memory_order_release, memory_order_relaxed));
}

static void open_gate(Pending* pending) { gate_open(&pending->gate); }

static void poll_until_open(const Gate* gate) {
  while (!gate_is_open(gate)) {
    if (marline_progress_poll() == 0) sched_yield();
  }
}

/* Blocks the thread, for a call that the owner tests, or of a thread that gives its core away, if the caller is in
 * no task, or must not leave it. */
static void block(Pending* pending) {
  pending->completed = open_gate;
  const marline_wait_t wait = pending->call != NULL ? waiting_in(pending->call) : (marline_wait_t){0};
  if (pending->call != NULL) marline_block_begin(&wait);
  engine_watch(pending);
  if (owner_exists())
    gate_wait(&pending->gate);
  else
    poll_until_open(&pending->gate);
  if (pending->call != NULL) marline_block_end();
}

static bool suspends(const MpiCall* call) {
  if (!owner_exists() && !gives_core_away()) /* engine_takes() has asked may_suspend() */
    return true;
  return call != NULL && call->caller != NULL ? may_suspend(call->caller) : marline_can_suspend() == 1;
}

void engine_wait(Pending* pending) {
  if (!suspends(pending->call)) {
    block(pending);
    return;
  }
  marline_event_init(&pending->event);
  if (pending->call == NULL) {
    engine_watch(pending);
    marline_event_wait(&pending->event);
  } else {
    const marline_wait_t wait = waiting_in(pending->call); /* before the poller may touch the Pending */
    engine_watch(pending);
    marline_event_wait_for(&pending->event, &wait);
  }
  if (counters_time()) counters_of_resumption(pending->seen);
}

int engine_complete(MPI_Request* request, MPI_Status* status, const MpiCall* call) {
  int flag = 0;
  const int error = next_mpi.test(request, &flag, status);
  if (error != MPI_SUCCESS || flag) return error;
  Pending pending = {.request = *request, .status = status, .error = MPI_SUCCESS, .call = call};
  engine_wait(&pending);
  *request = pending.request;
  return pending.error;
}

/* Polling ---------------------------------------------------------------------------------------------------------- */

static void empty_inbox(void) {
  if (atomic_load_explicit(&inbox, memory_order_relaxed) == NULL) return;
  Pending* newest = atomic_exchange_explicit(&inbox, NULL, memory_order_acquire);
  Pending* oldest = NULL; /* reversed: first posted, first tested */
  while (newest != NULL) {
    Pending* next = newest->next;
    newest->next = oldest;
    oldest = newest;
    newest = next;
  }
  while (oldest != NULL) {
    Pending* next = oldest->next;
    open_calls_admit(oldest);
    oldest = next;
  }
}

/* A function of Open MPI (opal/runtime/opal_progress.h, versions 1.7 to 5): returns the previous value. Other
 * libraries do not have it. */
extern bool opal_progress_set_yield_when_idle(bool yields) __attribute__((weak));

/* If there are more ranks than cores, Open MPI gives the core away in each call that finds nothing. A poll must not
 * do so: a thread that has tasks to run polls between them, and a thread that has none gives the core away itself. */
static int poll_without_yielding(void) {
  const bool yields = opal_progress_set_yield_when_idle != NULL && opal_progress_set_yield_when_idle(false);
  order_poll();
  run_ahead_poll();
  const int found = open_calls_poll();
  if (yields) (void)opal_progress_set_yield_when_idle(true);
  return found;
}

static int poll(void* unused) {
  (void)unused;
  empty_inbox();
  const int found = poll_without_yielding();
  if (found > 0) count(-found);
  return found;
}

/* Start and stop --------------------------------------------------------------------------------------------------- */

void engine_take_over(void) { owner_start(poll); }

void engine_start(int thread_level) {
  if (!owner_exists() && thread_level < MPI_THREAD_MULTIPLE) {
    report_warning(
        "this MPI library provides thread level %d, not MPI_THREAD_MULTIPLE (%d): blocking calls in tasks "
        "hold their thread; set MARLINE_MPI_THREADS=owner",
        thread_level, MPI_THREAD_MULTIPLE);
    return;
  }
  counters_start();
  if (owner_exists() || mpi_options()->progress == kProgressThread) {
    if (!owner_exists()) progress_thread_start(poll);
    atomic_store_explicit(&poller, kThread, memory_order_relaxed);
    return;
  }
  hook = marline_progress_register("MPI", poll, NULL);
  if (hook == NULL)
    report_warning(
        "all of Marline's progress hooks are taken: blocking MPI calls in tasks hold their thread; "
        "unregister one before MPI_Init");
  else
    atomic_store_explicit(&poller, kHook, memory_order_relaxed);
  const bool yields_itself = opal_progress_set_yield_when_idle != NULL;
  atomic_store_explicit(&leaves_core, hook != NULL && !yields_itself && marline_shares_cores() == 1,
                        memory_order_relaxed);
}

/* Called by the poller, or when there is none any more. */
static void forget_all(void* unused) {
  (void)unused;
  empty_inbox();
  const int open = open_calls_count();
  const int calls = open - run_ahead_samples();
  if (calls > 0)
    report_warning(
        "MPI_Finalize is called while calls of tasks are open (%d): the tasks will not go on; wait for them "
        "first",
        calls);
  open_calls_clear();
  run_ahead_stop();
  if (owner_exists()) /* the owner goes on: it must not poll for these calls */
    progress_thread_add(-open);
}

void engine_stop(void) {
  if (!engine_is_running()) return;
  /* The last task may go on already, and the program may have come here, before the poller has counted the task's
   * call down: the hook stays until no poll is in progress. */
  if (owner_exists()) {
    owner_call(forget_all, NULL);
  } else {
    if (current_poller() == kThread)
      progress_thread_stop();
    else
      marline_progress_unregister(hook);
    forget_all(NULL);
  }
  atomic_store_explicit(&poller, kNobody, memory_order_relaxed);
  atomic_store_explicit(&leaves_core, false, memory_order_relaxed);
  counters_stop();
}
