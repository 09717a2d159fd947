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

#include "base/call.h"
#include "base/mpi_library.h"
#include "engine/pending.h"
#include "marline/marline.h"

/* True if a blocking call that returns to `return_address` is to suspend: its caller is the user, in a task. */
bool may_suspend(const void* return_address);

/* True if a blocking call that returns to `return_address` is to be made by its nonblocking form and engine_wait:
 * its task may suspend, or an owner (owner.h) makes all calls, or the thread gives its core away while it waits. */
bool engine_takes(const void* return_address);

/* Suspends the current task until pending->finished() has returned true, or the single request has completed. */
void engine_wait(Pending* pending);

/* Gives a Pending with a `completed` to the poller and returns. The engine must be there: may_suspend() or
 * engine_is_running() has returned true. */
void engine_watch(Pending* pending);

/* False before MPI_Init and after MPI_Finalize, and if MPI provides less than MPI_THREAD_MULTIPLE and there is no
 * owner. */
bool engine_is_running(void);

/* Completes *request as MPI_Wait would, and suspends if it is not complete yet. engine_takes() has returned true. */
int engine_complete(MPI_Request* request, MPI_Status* status, const MpiCall* call);

/* The poller's side (poller.c) ------------------------------------------------------------------------------------- */

typedef enum Poller { kNobody, kHook, kThread } Poller;

/* From now on calls may be posted: `hook`, with kHook, counts them. `leaves_core`: see engine.c. */
void engine_begin(Poller poller, marline_hook_t* hook, bool leaves_core);

/* From now on nothing is posted. */
void engine_end(void);

Poller engine_poller(void);

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
