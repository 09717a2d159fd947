/* SPDX-License-Identifier: Apache-2.0
 *
 * The engine takes over a blocking MPI call of a task that cannot complete at once. The task is suspended on a Marline
 * event; a progress hook polls MPI, and fulfils the event when the call has its result.
 *
 * A Pending lives on the stack of the task that waits. The task fills it and posts it. From then on the poller owns it,
 * until the poller fulfils the event. After that the task owns it again, and it may no longer exist.
 *
 * Errors. The poller tests by the nonblocking forms of the calls (MPI_Testany, Testall, Iprobe). So an error at
 * completion calls the error handler that MPI calls for the nonblocking form, in the poller, where no MPI call suspends
 * (base/inside.h). The task then gets the error code. (MPICH 4.0 calls MPI_COMM_WORLD's handler for all errors at
 * completion, also for plain MPI_Wait.)
 */
#ifndef MARLINE_MPI_ENGINE_H
#define MARLINE_MPI_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/call.h"
#include "base/mpi_library.h"
#include "engine/gate.h"
#include "marline/marline.h"

/* How many requests one look at a call for several requests may test, because a poll must not take long. */
enum { kRequestsPerLook = 64 };

typedef struct Several Several;

typedef struct Pending {
  struct Pending* next; /* used by the poller, once posted */
  marline_event_t event;
  /* Tests the call, and keeps the result if there is one. NULL for a single request: such requests are tested many
   * at a time. Called by the poller; must not block. */
  bool (*finished)(struct Pending* pending);
  /* A single request. The poller leaves in it what MPI does: MPI_REQUEST_NULL, or the now inactive persistent one. */
  MPI_Request request;
  MPI_Status* status;
  int error;
  const MpiCall* call; /* describes the call */
  bool is_probe;       /* the poller may look for its message by `call` (probes.h) */
  bool cancelled;      /* used by the poller: MPI_Cancel has been called for the request */
  int place;           /* used by the poller: its index among the requests that are tested */
  uint64_t seen;       /* when the poller found it complete; 0 unless times are taken (counters.h) */
  /* Called by the poller in place of fulfilling the event, for a caller that does not wait. The poller does not
   * touch the Pending afterwards. Must not block; may post again. */
  void (*completed)(struct Pending* pending);
  Gate gate;        /* for a thread that waits and cannot suspend */
  Several* several; /* of a call that waits for several requests, and of each of its parts; or NULL */
} Pending;

/* Requests that the poller tests in place of a call: together with the single requests of all tasks, many in one
 * call of MPI, which costs a tenth of testing each call by itself. They are active, and not null. The poller calls
 * the functions, which must not block. */
struct Several {
  Pending* whole;
  Pending* parts; /* `request`, `status`, `call` and `several` are set */
  int count;      /* 0: the poller calls whole->finished(), which may put parts here and return false */
  /* A part has completed, and the poller tests none any more. Returns true if the call has its result; otherwise the
   * poller goes on as after whole->finished(). */
  bool (*part_completed)(Several* several, Pending* part);
  /* Called after part_completed, for each other part that MPI has ended at the same time with an error. The part has
   * no status. Not called for a call with one part at a time. */
  void (*part_failed_too)(Several* several, Pending* part);
};

/* Called before MPI_Init: MPI_Init and all later calls are made by one thread of this library (owner.h). */
void engine_take_over(void);

/* Called once after MPI_Init: suspension works from here on. Reports if it cannot. `thread_level` is what MPI
 * provides. MARLINE_MPI_PROGRESS says whether Marline's threads poll or a thread of the engine. */
void engine_start(int thread_level);

/* Called before MPI_Finalize: the engine makes no MPI call after this returns. */
void engine_stop(void);

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

/* Called by the poller, from a finished(): calls MPI_Cancel, once, for the requests of receives in the scope. They
 * complete soon, in the usual way. */
void engine_cancel_receives(const struct marline_mpi_speculation* scope);

#endif
