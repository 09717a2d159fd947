/* SPDX-License-Identifier: Apache-2.0
 *
 * Polls, and starts and stops the engine. The polls are in open_calls.c.
 */
#include "engine/poller.h"

#include <stdbool.h>
#include <stddef.h>

#include "base/options.h"
#include "base/report.h"
#include "comm/order.h"
#include "engine/counters.h"
#include "engine/engine.h"
#include "engine/open_calls.h"
#include "engine/owner.h"
#include "engine/progress_thread.h"
#include "engine/run_ahead.h"
#include "engine/yields.h"
#include "marline/devices.h"

static marline_hook_t* hook; /* of a poller that is one; written at MPI_Init */

static void empty_inbox(void) {
  Pending* newest = engine_take_posted();
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
  if (found > 0) engine_count(-found);
  return found;
}

/* Start and stop --------------------------------------------------------------------------------------------------- */

void poller_take_over(void) { owner_start(poll); }

void poller_start(int thread_level) {
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
    engine_begin(kThread, NULL, false);
    return;
  }
  hook = marline_progress_register("MPI", poll, NULL);
  if (hook == NULL) {
    report_warning(
        "all of Marline's progress hooks are taken: blocking MPI calls in tasks hold their thread; "
        "unregister one before MPI_Init");
    return;
  }
  const bool yields_itself = opal_progress_set_yield_when_idle != NULL;
  engine_begin(kHook, hook, !yields_itself && marline_shares_cores() == 1);
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

void poller_stop(void) {
  if (!engine_is_running()) return;
  /* The last task may go on already, and the program may have come here, before the poller has counted the task's
   * call down: the hook stays until no poll is in progress. */
  if (owner_exists()) {
    owner_call(forget_all, NULL);
  } else {
    if (engine_poller() == kThread)
      progress_thread_stop();
    else
      marline_progress_unregister(hook);
    forget_all(NULL);
  }
  engine_end();
  counters_stop();
}
