/* SPDX-License-Identifier: Apache-2.0
 *
 * What libmarline-mpi offers beyond MPI's own interface. A program that runs with and without it looks these functions
 * up at run time (dlsym): libmarline-mpi.so is preloaded by `marline run`, not linked.
 */
#ifndef MARLINE_MARLINE_MPI_H
#define MARLINE_MARLINE_MPI_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Speculation ------------------------------------------------------------------------------------------------------- */

/* Iterations that run before it is known whether they are needed, and communicate meanwhile. When it turns out that they
 * are not, each rank is somewhere else in them: one waits for a message that will never be sent, another has sent
 * messages that nobody will receive, a third has entered a collective alone. marline_mpi_speculation_stop ends all that,
 * and leaves the communicator as if the program had stopped by itself on all ranks at the same place.
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
 * In the scope, that is from begin to end, calls on `comm` in tasks are as ever until the stop. docs/guide/speculation.md
 * has an example, docs/design/distributed-cancellation.md the protocol. */
typedef struct marline_mpi_speculation marline_mpi_speculation_t;

/* What happened in a scope on this rank. Over all ranks of the communicator, after the stop and the end of the
 * taskgroup, sent = received + drained, if all receives were blocking calls. */
typedef struct marline_mpi_speculation_counts {
  uint64_t sent;      /* messages, by any call that sends; persistent requests apart */
  uint64_t received;  /* messages, by blocking calls */
  uint64_t withdrawn; /* receives that waited when the scope was stopped, and were cancelled */
  uint64_t drained;   /* messages that nobody would have received */
  uint64_t refused;   /* calls after the stop, by tasks that were running on */
  uint64_t entered;   /* collectives, by the program */
  uint64_t completed; /* collectives that other ranks had entered and this one had not: by the stop */
} marline_mpi_speculation_counts_t;

/* Opens a scope on `comm`. Collective: all its ranks call, before the taskgroup. At most 8 scopes are open at a time, one
 * on a communicator. The caller ends it. NULL, on all ranks alike, if tasks cannot suspend in MPI calls here (no thread
 * support): there is nothing to stop then, and the other functions accept it. */
marline_mpi_speculation_t *marline_mpi_speculation_begin(MPI_Comm comm);

/* Called on each rank by one task of the taskgroup, which speaks for the same iteration on all ranks; suspends until all
 * of them have called. Does what marline_taskgroup_cancel_later does. Then, for what later tasks have begun on `comm`:
 *
 *   receives that wait are cancelled; MPI_Test_cancelled says so of their status
 *   messages that are not received are taken out; the tasks that wait to have sent them go on
 *   collectives are entered by the ranks that have not; their results mean nothing
 *   from now on, calls on `comm` in these tasks return at once: messages go to, and come from, MPI_PROC_NULL, and
 *   collectives do nothing
 *
 * Started tasks go on with whatever their buffers hold; marline_taskgroup_cancelled tells a task that it is one of them.
 *
 * Demands, of which the second is checked where it can be: the calling task comes, by its dependences, after all receives
 * and all collectives on `comm` of the iterations that count, and no task that counts calls MPI on `comm` later. In the
 * scope, receives are blocking calls in tasks (MPI_Recv, MPI_Sendrecv); requests that the program made itself are its own
 * to cancel. Collectives are MPI_Barrier, MPI_Bcast, MPI_Reduce and MPI_Allreduce, with predefined datatypes and
 * operations. No MPI_Rsend: the receive that it counts on may be cancelled. */
void marline_mpi_speculation_stop(marline_mpi_speculation_t *speculation);

/* Closes the scope, whether it was stopped or not; collective, after the taskgroup. *counts, unless NULL, is what
 * happened. */
void marline_mpi_speculation_end(marline_mpi_speculation_t *speculation, marline_mpi_speculation_counts_t *counts);

/* Counters ---------------------------------------------------------------------------------------------------------- */

/* What libmarline-mpi has done in this process so far (docs/design/progress.md). The times, and the numbers of
 * resumptions with them, are zero unless MARLINE_MPI_COUNTERS=true. Later versions add fields at the end. */
typedef struct marline_mpi_counters {
  uint64_t polls;              /* times that MPI was asked about the calls of suspended tasks */
  uint64_t hits;               /* calls that were found complete by a poll: the others were complete at once */
  uint64_t resumptions;        /* of tasks that were suspended in a call */
  uint64_t latency_ns;         /* from the poll that found the call complete until the task went on; sum over them */
  uint64_t longest_latency_ns; /* the largest of these */
  uint64_t tied_resumptions;   /* of tasks bound to their thread, whatever they had waited for */
  uint64_t tied_wait_ns;       /* from when they could go on until their thread took them up; sum over them */
} marline_mpi_counters_t;

/* Writes the counters to *out, of which `bytes` is the size: sizeof *out. A caller that was compiled for a later version
 * than the library's gets zeros for what the library does not count. Any thread, any time. */
void marline_mpi_counters_read(marline_mpi_counters_t *out, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
