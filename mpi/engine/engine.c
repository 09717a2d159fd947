/* SPDX-License-Identifier: Apache-2.0
 *
 * Posts operations, which the poller (poller.c) takes up.
 *
 * Posting threads and the poller share only the inbox: a stack to which any thread may push and which the poller takes
 * as a whole. Only the poller uses the other data. The poller is either a progress hook, which Marline calls from one
 * thread at a time, so that each call sees what the previous one wrote; or a thread of this library
 * (progress_thread.h). So there is no lock, and a task that posts never waits for a thread that polls MPI.
 */
#include "engine/engine.h"

#include <sched.h>

#include "base/later_tool.h"
#include "engine/counters.h"
#include "engine/owner.h"
#include "engine/progress_thread.h"
#include "engine/waiting.h"
#include "engine/yields.h"
#include "marline/devices.h"

_Atomic(Pending*) engine_inbox;

_Atomic Poller engine_polled_by;
_Atomic bool engine_takes_all;
static marline_hook_t* hook; /* written with engine_polled_by */
/* If ranks share cores, a thread that waits in MPICH keeps its core from the rank for which it waits. So the
 * program's blocking calls outside of tasks are made by their nonblocking forms, too, and the thread polls and gives
 * its core away in between. Open MPI does so itself. Written with engine_polled_by. */
static _Atomic bool leaves_core;

void engine_begin(Poller by, marline_hook_t* counting, bool leaves) {
  hook = counting;
  atomic_store_explicit(&engine_polled_by, by, memory_order_relaxed);
  atomic_store_explicit(&leaves_core, leaves, memory_order_relaxed);
  atomic_store_explicit(&engine_takes_all, leaves || owner_exists(), memory_order_relaxed);
}

void engine_end(void) {
  atomic_store_explicit(&engine_polled_by, kNobody, memory_order_relaxed);
  atomic_store_explicit(&leaves_core, false, memory_order_relaxed);
  atomic_store_explicit(&engine_takes_all, false, memory_order_relaxed);
}

static bool gives_core_away(void) { return atomic_load_explicit(&leaves_core, memory_order_relaxed); }

bool engine_takes_outside_tasks(const void* return_address) {
  if (marline_is_called_back() == 1) /* the poller may be below, on this thread's stack */
    return false;
  if (owner_exists()) return !owner_is_me() && engine_is_running();
  return gives_core_away() && caller_of(return_address) == kCallerUser;
}

/* Posting ---------------------------------------------------------------------------------------------------------- */

void engine_count(int operations) {
  if (engine_poller() == kThread)
    progress_thread_add(operations);
  else
    marline_progress_add(hook, operations);
}

void engine_watch(Pending* pending) {
  /* First the count, then the operation: in the other order the poller could finish the operation and count it down
   * before it was counted up. A poll in between finds an empty inbox and comes again, because the count is positive. */
  engine_count(1);
  Pending* head = atomic_load_explicit(&engine_inbox, memory_order_relaxed);
  do {
    pending->next = head;
  } while (!atomic_compare_exchange_weak_explicit(&engine_inbox, &head, pending, memory_order_release,
                                                  memory_order_relaxed));
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

/* The answer to a message is often nearly there when its receive is posted. So before a task is suspended its operation
 * is tested for a microsecond, about twice what a suspension and a resumption take. Where this was in vain several
 * times in a row, it is left out, and tried again now and then. Not where ranks share cores or MPI gives its core away
 * in each test, as the sender may need the core; nor where a tool would see each test. */
enum { kTestsLast = 1000 /* ns */, kFailures = 4, kLeftOut = 64 };

/* Above 0: so many more failures are accepted; else the negative number of calls for which the tests were left out.
 * Relaxed: it is a guess, and a lost update does no harm. */
static _Atomic int patience = kFailures;

/* As poller.c has it. Another thread may have switched it off for a poll: then one call's tests yield. */
static bool gives_core_in_tests(void) {
  if (opal_progress_set_yield_when_idle == NULL || !opal_progress_set_yield_when_idle(false)) return false;
  (void)opal_progress_set_yield_when_idle(true);
  return true;
}

static bool tests_again(void) {
  if (owner_exists() || gives_core_away() || marline_shares_cores() == 1 || later_tool_count > 0) return false;
  const int left = atomic_load_explicit(&patience, memory_order_relaxed);
  if (left > 0) return !gives_core_in_tests();
  atomic_store_explicit(&patience, left > -kLeftOut ? left - 1 : 1, memory_order_relaxed);
  return false;
}

static void note_tests(bool completed) {
  const int left = atomic_load_explicit(&patience, memory_order_relaxed);
  const int next = completed ? kFailures : left - 1;
  if (next != left) atomic_store_explicit(&patience, next, memory_order_relaxed);
}

static int test_for_a_while(MPI_Request* request, int* flag, MPI_Status* status) {
  int error = next_mpi.test(request, flag, status);
  if (error != MPI_SUCCESS || *flag || !tests_again()) return error;
  const uint64_t end = counters_clock() + kTestsLast;
  do {
    error = next_mpi.test(request, flag, status);
  } while (error == MPI_SUCCESS && !*flag && counters_clock() < end);
  note_tests(*flag);
  return error;
}

int engine_complete(MPI_Request* request, MPI_Status* status, const MpiCall* call) {
  int flag = 0;
  const int error = test_for_a_while(request, &flag, status);
  if (error != MPI_SUCCESS || flag) return error;
  Pending pending = {.request = *request, .status = status, .error = MPI_SUCCESS, .call = call};
  engine_wait(&pending);
  *request = pending.request;
  return pending.error;
}
