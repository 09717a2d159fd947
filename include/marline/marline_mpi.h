/* SPDX-License-Identifier: Apache-2.0
 *
 * What libmarline-mpi offers beyond MPI's own interface: requests that hold the current task until they are complete,
 * callbacks and events for requests, and speculation. Blocking calls of MPI in tasks need none of this
 * (docs/guide/mpi.md). For Fortran: marline_mpi.f90 and marline_mpi_f08.f90; for the names of TAMPI and MPI Detach:
 * compat/.
 *
 * Linking. libmarline-mpi.so is preloaded by `marline run`, not linked. Link the archive libmarline-mpi-link.a, which
 * is next to it (lib/marline/openmpi, lib/marline/mpich) and finds it at run time, or look the functions up (dlsym).
 * With the archive the same program runs without Marline, too: see each function.
 */
#ifndef MARLINE_MARLINE_MPI_H
#define MARLINE_MARLINE_MPI_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Requests --------------------------------------------------------------------------------------------------------- */

/* Conventions of this section. Without Marline, before MPI_Init, and if MPI does not provide MPI_THREAD_MULTIPLE,
 * each function waits for its requests, one after the other, before it returns: a program that relies on going on
 * must test marline_mpi_is_active().
 *
 * All functions may be called from any thread. The requests are passed to libmarline-mpi: their handles are
 * MPI_REQUEST_NULL when the function returns, or has begun to wait, and the program must not use copies of them
 * until they are complete. Null and inactive requests count as complete, with the empty status. Persistent requests
 * are served; keep a copy of the handle, which is inactive, and may be started again, when the operation is
 * complete.
 *
 * Statuses are written before the completion is reported: `statuses` must live until then, or be
 * MPI_STATUSES_IGNORE. MPI_ERROR of each status is set, to MPI_SUCCESS too. An operation that fails calls its error
 * handler, as it does in MPI_Wait: with the default handler the job ends. With handlers that return, the function
 * returns the error if the failure is known by then, and it is in the status and in the callback's `error` in any
 * case: for one request its own error, for several MPI_ERR_IN_STATUS. */

/* 1 if requests are served in the background; 0 if each function below waits for them. Does not change from MPI_Init
 * to MPI_Finalize. */
int marline_mpi_is_active(void);

/* Binds the requests to the current task: it goes on, and completes when its body has ended and all requests are
 * complete (marline_task_hold in marline.h). So the messages are there for its successors, and for every task that
 * waits for it; its depend clauses should name the buffers. In an implicit task the next barrier waits. If there is
 * no task to hold (outside of parallel regions and explicit tasks, in callbacks) the function itself waits. */
int marline_mpi_iwait(MPI_Request* request, MPI_Status* status);
int marline_mpi_iwaitall(int count, MPI_Request requests[], MPI_Status* statuses);

/* What to do at completion. Called once, when all requests are complete, by whichever thread notices it, one
 * callback at a time, or by the calling thread before the function returns. It runs as code that a library calls
 * back (marline_library_enter in marline.h). It may fulfil events, start operations, call the functions of this
 * header and use OpenMP; it must not wait for what another request brings about, nor take a lock that a caller of
 * this header holds. */
typedef void (*marline_mpi_callback_fn)(int error, void* arg);

/* Calls callback(error, arg) when all requests are complete. Returns before that. */
int marline_mpi_on_completion(int count, MPI_Request requests[], MPI_Status* statuses, marline_mpi_callback_fn callback,
                              void* arg);

/* Fulfils `event`, the omp_event_handle_t of a detach clause or the address of a marline_event_t, when all requests
 * are complete, even if some failed. */
int marline_mpi_fulfill(int count, MPI_Request requests[], MPI_Status* statuses, uintptr_t event);

/* Wait for requests: suspended in a task, blocked elsewhere. MPI's own calls do the same on Marline; these functions
 * are for programs that want to say what they rely on. */
static inline int marline_mpi_wait(MPI_Request* request, MPI_Status* status) { return MPI_Wait(request, status); }

static inline int marline_mpi_waitall(int count, MPI_Request requests[], MPI_Status* statuses) {
  return MPI_Waitall(count, requests, statuses);
}

static inline int marline_mpi_waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  return MPI_Waitany(count, requests, index, status);
}

/* Speculation ------------------------------------------------------------------------------------------------------ */

/* For iterations that run before it is known whether they are needed, and communicate meanwhile. When it turns out that
 * they are not needed, each rank is at another point in them: one rank waits for a message that will never be sent,
 * another has sent messages that no rank will receive, a third has entered a collective alone.
 * marline_mpi_speculation_stop ends all that, and leaves the communicator as if the program had stopped by itself on
 * all ranks at the same place.
 *
 *     s = marline_mpi_speculation_begin(comm);
 *     #pragma omp taskgroup
 *     for (k = 1; k <= most && !marline_taskgroup_cancelled(); ++k) {
 *       ... tasks of iteration k, which communicate on comm ...
 *       #pragma omp task depend(...)             // comes after iteration k's receives and collectives
 *       if (has_converged(k, another_comm))      // the same answer on all ranks
 *         marline_mpi_speculation_stop(s);
 *     }
 *     marline_mpi_speculation_end(s, &counts);
 *
 * In the scope, from begin to end, calls on `comm` in tasks work as usual until the stop.
 * docs/guide/speculation.md has an example, docs/design/distributed-cancellation.md the protocol. */
typedef struct marline_mpi_speculation marline_mpi_speculation_t;

/* What happened in a scope on this rank. Summed over all ranks of the communicator, after the stop and the end of
 * the taskgroup, sent = received + drained, if all receives were blocking calls. */
typedef struct marline_mpi_speculation_counts {
  uint64_t sent;      /* messages, by any call that sends except persistent requests */
  uint64_t received;  /* messages, by blocking calls */
  uint64_t withdrawn; /* receives that waited when the scope was stopped, and were cancelled */
  uint64_t drained;   /* messages that no call would have received */
  uint64_t refused;   /* calls after the stop, by tasks that were still running */
  uint64_t entered;   /* collectives, by the program */
  uint64_t completed; /* collectives that other ranks had entered and this one had not: entered by the stop */
} marline_mpi_speculation_counts_t;

/* Opens a scope on `comm`. Collective: all ranks of `comm` call it, before the taskgroup. At most 8 scopes are open
 * at a time, one on a communicator. The caller ends it. Returns NULL, on all ranks alike, if tasks cannot suspend in
 * MPI calls here (no thread support, no libmarline-mpi): there is nothing to stop then, and the other functions
 * accept NULL. */
marline_mpi_speculation_t* marline_mpi_speculation_begin(MPI_Comm comm);

/* Called on each rank by one task of the taskgroup, for the same iteration on all ranks; suspends until all ranks have
 * called. Does what marline_taskgroup_cancel_later does. Then, for what later tasks have begun on `comm`:
 *
 *   receives that wait are cancelled; MPI_Test_cancelled of their status returns true
 *   messages that are not received are taken out; the tasks that wait to have sent them go on
 *   collectives are entered by the ranks that have not entered them; their results mean nothing
 *   from now on, calls on `comm` in these tasks return at once: messages go to, and come from, MPI_PROC_NULL, and
 *   collectives do nothing
 *
 * Started tasks go on with whatever their buffers hold; marline_task_cancelled says whether the calling task is one of
 * them.
 *
 * Two demands, of which the second is checked if possible: the calling task comes, by its dependences, after all
 * receives and all collectives on `comm` of the iterations that count; and no task that counts calls MPI on `comm`
 * later. In the scope, receives are blocking calls in tasks (MPI_Recv, MPI_Sendrecv); the program itself must cancel
 * requests that it has made. Collectives are MPI_Barrier, MPI_Bcast, MPI_Reduce and MPI_Allreduce, with predefined
 * datatypes and operations. MPI_Rsend is not allowed: the receive that it counts on may be cancelled. */
void marline_mpi_speculation_stop(marline_mpi_speculation_t* speculation);

/* Closes the scope, whether it was stopped or not. Collective, after the taskgroup. *counts, unless NULL, gets what
 * happened. */
void marline_mpi_speculation_end(marline_mpi_speculation_t* speculation, marline_mpi_speculation_counts_t* counts);

/* Counters --------------------------------------------------------------------------------------------------------- */

/* What libmarline-mpi has done in this process so far (docs/design/progress.md). The times, and the numbers of
 * resumptions with them, are zero unless MARLINE_MPI_COUNTERS=true. Later versions add fields at the end. */
typedef struct marline_mpi_counters {
  uint64_t polls;       /* how often MPI was asked about the calls of suspended tasks */
  uint64_t hits;        /* calls that a poll found complete; the other calls were complete at once */
  uint64_t resumptions; /* resumptions of tasks that were suspended in a call */
  uint64_t latency_ns; /* from the poll that found the call complete until the task went on; sum over all resumptions */
  uint64_t longest_latency_ns; /* the largest of these times */
  uint64_t tied_resumptions;   /* resumptions of tasks bound to their thread, whatever they had waited for */
  uint64_t tied_wait_ns; /* from when these tasks could go on until their thread resumed them; sum over all of them */
} marline_mpi_counters_t;

/* Writes the counters to *out; `bytes` is its size, sizeof *out. A caller that was compiled for a later version than
 * the library's gets zeros for what the library does not count. Any thread, any time. */
void marline_mpi_counters_read(marline_mpi_counters_t* out, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
