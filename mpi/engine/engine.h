/* SPDX-License-Identifier: Apache-2.0
 *
 * The engine: it takes over a blocking MPI call of a task that cannot complete at once. The task is suspended on a
 * Marline event; a progress hook polls MPI, and fulfils the event when the call has its result.
 *
 * A Pending lives on the stack of the task that waits. The task fills it and posts it. From then on the poller owns it,
 * until the poller fulfils the event. After that the task owns it again, and it may no longer exist.
 *
 * Errors. The poller asks with the nonblocking twins (MPI_Testany, Testall, Iprobe), so an error at completion
 * calls the error handler that MPI's twin calls, from the poller, in which no MPI call suspends (base/inside.h). The
 * task then gets the error code. (MPICH 4.0 calls MPI_COMM_WORLD's handler for all errors at completion, also for plain
 * MPI_Wait.)
 */
#ifndef MARLINE_MPI_ENGINE_H
#define MARLINE_MPI_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/call.h"
#include "base/mpi_library.h"
#include "engine/gate.h"
#include "marline/marline.h"

/* How many requests a single look at a call that waits for several may ask MPI about, as a poll must not take long. */
enum { kRequestsPerLook = 64 };

typedef struct Several Several;

typedef struct Pending {
  struct Pending* next; /* the poller's, once posted */
  marline_event_t event;
  /* Asks MPI about the call, and keeps the result if there is one; NULL for a single request, as these are asked for
   * many at a time. Called by the poller, must not block. */
  bool (*finished)(struct Pending* pending);
  /* A single request. The poller leaves in it what MPI does: MPI_REQUEST_NULL, or the now inactive persistent one. */
  MPI_Request request;
  MPI_Status* status;
  int error;
  const MpiCall* call; /* what it is about */
  bool is_probe;       /* its message may be sought by `call` (probes.h) */
  bool cancelled;      /* the poller's: MPI_Cancel has been called for the request */
  int place;           /* the poller's: where it is among those that are asked about */
  uint64_t seen;       /* when the poller found it complete; 0 unless times are taken (counters.h) */
  /* Instead of fulfilling the event, for those who do not wait: called by the poller, which does not touch the Pending
   * any more. Must not block; may post again. */
  void (*completed)(struct Pending* pending);
  Gate gate;        /* of a thread that waits and cannot suspend */
  Several* several; /* of a call that waits for several requests, and of each of its parts; or NULL */
} Pending;

/* Requests that the poller asks about in a call's place: together with the single ones of all tasks, many in one call
 * of MPI, which costs a tenth of asking for each call by itself. They are active, and not null. The functions are the
 * poller's, and must not block. */
struct Several {
  Pending* whole;
  Pending* parts; /* `request`, `status`, `call` and `several` are set */
  int count;      /* 0: whole->finished() is asked; it may put parts here and say no */
  /* A part has completed, and none is asked about any more. True if the call has its result; else the poller goes on as
   * after whole->finished(). */
  bool (*part_completed)(Several* several, Pending* part);
  /* After that, for each other part that MPI has ended at the same time, with an error. It has no status. Not called of
   * a call with one part at a time. */
  void (*part_failed_too)(Several* several, Pending* part);
};

/* Before MPI_Init: it, and all later calls, are made by one thread of our own (owner.h). */
void engine_take_over(void);

/* After MPI_Init, once: suspension works from here on. Says so if it cannot. `thread_level` is what MPI provides. Who
 * polls, Marline's threads or one of the engine's own, is MARLINE_MPI_PROGRESS. */
void engine_start(int thread_level);

/* Before MPI_Finalize: no call of MPI is made by the engine when this returns. */
void engine_stop(void);

/* True if a blocking call that returns to `return_address` is to suspend: its caller is the user, in a task. */
bool may_suspend(const void* return_address);

/* True if a blocking call that returns to `return_address` is to be made by its nonblocking twin and engine_wait: its
 * task may suspend, or an owner (owner.h) makes all calls, or the thread gives its core away while it waits. */
bool engine_takes(const void* return_address);

/* Suspends the current task until pending->finished() has said yes, or the single request has completed. */
void engine_wait(Pending* pending);

/* Hands a Pending with a `completed` to the poller and goes on. The engine is there: may_suspend() has said yes, or
 * engine_is_running(). */
void engine_watch(Pending* pending);

/* False before MPI_Init and after MPI_Finalize, and where MPI provides less than MPI_THREAD_MULTIPLE and has no owner.
 */
bool engine_is_running(void);

/* Completes *request as MPI_Wait would, suspending if it is not complete already. Engine_takes() has said yes. */
int engine_complete(MPI_Request* request, MPI_Status* status, const MpiCall* call);

/* Called by the poller, from a finished(): MPI_Cancel, once, for the requests whose call is a receive in the scope.
 * They complete as ever, soon. */
void engine_cancel_receives(const struct marline_mpi_speculation* scope);

#endif
