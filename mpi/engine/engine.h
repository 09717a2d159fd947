/* SPDX-License-Identifier: Apache-2.0
 *
 * The engine takes over a blocking MPI call of a task that cannot complete at once. The task is suspended on a Marline
 * event; a progress hook polls MPI, and fulfils the event when the call has its result.
 *
 * Errors. The poller tests by the nonblocking forms of the calls (MPI_Testany, Testall, Iprobe). So an error at
 * completion calls the error handler that MPI calls for the nonblocking form, in the poller, where no MPI call suspends
 * (base/inside.h). The task then gets the error code. (MPICH 4.0 calls MPI_COMM_WORLD's handler for all errors at
 * completion, also for plain MPI_Wait.)
 */
#ifndef MARLINE_MPI_ENGINE_H
#define MARLINE_MPI_ENGINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "../pmpi/caller.h"
#include "base/call.h"
#include "base/mpi_library.h"
#include "engine/pending.h"
#include "marline/marline.h"

typedef enum Poller { kNobody, kHook, kThread } Poller;

/* Written by engine_begin() and engine_end(): before the program creates its first task after MPI_Init, and at
 * MPI_Finalize. Every intercepted call reads it: a thread that calls MPI must know that MPI_Init has returned, so
 * relaxed is enough. */
extern __attribute__((visibility("hidden"))) _Atomic Poller engine_polled_by;

static inline Poller engine_poller(void) { return atomic_load_explicit(&engine_polled_by, memory_order_relaxed); }

/* False before MPI_Init and after MPI_Finalize, and if MPI provides less than MPI_THREAD_MULTIPLE and there is no
 * owner. */
static inline bool engine_is_running(void) { return engine_poller() != kNobody; }

/* True if a blocking call that returns to `return_address` is to suspend: its caller is the user, in a task. */
static inline bool may_suspend(const void* return_address) {
  return engine_is_running() && marline_can_suspend() == 1 && caller_of(return_address) == kCallerUser;
}

/* Whether calls outside of tasks are taken, too: there is an owner, or threads give their cores away. Written by
 * engine_begin() and engine_end(). */
extern __attribute__((visibility("hidden"))) _Atomic bool engine_takes_all;
bool engine_takes_outside_tasks(const void* return_address);

/* True if a blocking call that returns to `return_address` is to be made by its nonblocking form and engine_wait:
 * its task may suspend, or an owner (owner.h) makes all calls, or the thread gives its core away while it waits. */
static inline bool engine_takes(const void* return_address) {
  if (may_suspend(return_address)) return true; /* a thread that is called back may not */
  return __builtin_expect(atomic_load_explicit(&engine_takes_all, memory_order_relaxed), 0) &&
         engine_takes_outside_tasks(return_address);
}

/* Suspends the current task until pending->finished() has returned true, or the single request has completed. */
void engine_wait(Pending* pending);

/* Gives a Pending with a `completed` to the poller and returns. The engine must be there: may_suspend() or
 * engine_is_running() has returned true. */
void engine_watch(Pending* pending);

/* Completes *request as MPI_Wait would, and suspends if it is not complete yet. engine_takes() has returned true. */
int engine_complete(MPI_Request* request, MPI_Status* status, const MpiCall* call);

/* The poller's side (poller.c) ------------------------------------------------------------------------------------- */

/* From now on calls may be posted: `hook`, with kHook, counts them. `leaves_core`: see engine.c. */
void engine_begin(Poller poller, marline_hook_t* hook, bool leaves_core);

/* From now on nothing is posted. */
void engine_end(void);

/* Counts operations that have been posted, or, negative, that are complete. */
void engine_count(int operations);

/* Pushed by tasks (release), emptied by the poller (acquire): the poller sees what a task wrote into its Pending. */
extern _Atomic(Pending*) engine_inbox;

/* Empties the inbox, which is linked by `next` from the one that was posted last. */
static inline Pending* engine_take_posted(void) {
  if (atomic_load_explicit(&engine_inbox, memory_order_relaxed) == NULL) return NULL;
  return atomic_exchange_explicit(&engine_inbox, NULL, memory_order_acquire);
}

#endif
