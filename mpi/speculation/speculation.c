/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of the scopes, and the checks that calls in them make. The stop is in speculation_stop.c.
 */
#include "speculation/speculation.h"

#include <limits.h>
#include <stdlib.h>

#include "comm/comm.h"
#include "engine/collective.h"
#include "engine/open_calls.h"
#pragma GCC visibility push(default)
#include "marline/marline_mpi.h"
#pragma GCC visibility pop
#include "base/report.h"

enum { kMostScopes = 8 }; /* open at a time; each call looks through them; one more ends the program with a line */
#define STOPPED (1U << 31)

/* Never freed, so that a call on any communicator may look through them while other tasks open and close their
 * scopes. The task that begins and ends a scope takes and gives back its slot. */
static Speculation scopes[kMostScopes];
_Atomic int speculation_scopes;

Speculation* speculation_find(MPI_Comm comm) {
  for (int i = 0; i < kMostScopes; ++i) {
    /* Acquire: pairs with the release in marline_mpi_speculation_begin; the caller sees what the scope holds. */
    if (atomic_load_explicit(&scopes[i].open, memory_order_acquire) &&
        atomic_load_explicit(&scopes[i].comm, memory_order_relaxed) == comm)
      return &scopes[i];
  }
  return NULL;
}

/* Calls ------------------------------------------------------------------------------------------------------------ */

static void check_caller(const char* call) {
  if (marline_task_cancelled() == 1) return;
  report_fatal(
      "%s in a task that marline_mpi_speculation_stop does not cancel, on the communicator that it has "
      "stopped: the task that stops must come after it, by its dependences",
      call);
}

static void add_one(_Atomic uint64_t* counter) { atomic_fetch_add_explicit(counter, 1, memory_order_relaxed); }

bool speculation_enter(Speculation* scope, const char* call) {
  /* Relaxed: in the modification order of this word, a call is before the stop's bit, and the stop then waits for
   * it, or it is after that bit. */
  if ((atomic_fetch_add_explicit(&scope->in_flight, 1, memory_order_relaxed) & STOPPED) == 0) return true;
  speculation_leave(scope);
  check_caller(call);
  add_one(&scope->refused);
  return false;
}

void speculation_leave(Speculation* scope) {
  /* Release: pairs with all_quiet's acquire. A thread that sees the count at 0 is ordered after all that was
   * started. */
  atomic_fetch_sub_explicit(&scope->in_flight, 1, memory_order_release);
}

void speculation_count_send(Speculation* scope, int destination) {
  if (destination != MPI_PROC_NULL) add_one(&scope->sent);
}

bool speculation_is_stopped(const Speculation* scope) {
  return (atomic_load_explicit(&scope->in_flight, memory_order_relaxed) & STOPPED) != 0;
}

static CollectiveRecord record_of(const CollectiveCall* call) {
  CollectiveRecord record = {.kind = (int32_t)call->kind, .root = call->root, .count = call->count};
  if (call->kind != kCollectiveBarrier) record.datatype = number_of_type(call->datatype);
  if (call->kind == kCollectiveReduce || call->kind == kCollectiveAllreduce) record.op = number_of_op(call->op);
  return record;
}

bool speculation_enter_collective(Speculation* scope, const char* name, const CollectiveCall* call) {
  if (!speculation_enter(scope, name)) return false;
  if (call->kind == kCollectiveOther)
    report_fatal(
        "%s on the communicator of marline_mpi_speculation_begin: another rank could not enter it for one that "
        "stops before; call it on a duplicate of the communicator",
        name);
  if (call->count > INT_MAX)
    report_fatal(
        "%s on the communicator of marline_mpi_speculation_begin, of more than %d elements: another rank could "
        "not enter it for one that stops before; call it on a duplicate of the communicator",
        name, INT_MAX);
  scope->kept[scope->entered++ % kCollectivesKept] = record_of(call);
  return true;
}

int speculation_complete_receive(int started, MPI_Request* request, int source, MPI_Status* status,
                                 const MpiCall* call) {
  Speculation* scope = call->scope;
  MPI_Status own;
  MPI_Status* used = status == MPI_STATUS_IGNORE ? &own : status;
  int cancelled = 0;
  const int error = started == MPI_SUCCESS ? engine_complete(request, used, call) : started;
  if (error == MPI_SUCCESS) next_mpi.test_cancelled(used, &cancelled);
  if (cancelled) check_caller(call->name);
  if (source != MPI_PROC_NULL && error == MPI_SUCCESS) add_one(cancelled ? &scope->withdrawn : &scope->received);
  speculation_leave(scope);
  return error;
}

/* Waits until nothing is being started and no receive is open. The poller tests this, because it owns open receives. */
typedef struct Quiet {
  Pending base; /* first: the engine hands back a pointer to it */
  Speculation* scope;
} Quiet;

static bool all_quiet(Pending* pending) {
  Speculation* scope = ((Quiet*)pending)->scope;
  /* Acquire: pairs with the release in speculation_leave. */
  if ((atomic_load_explicit(&scope->in_flight, memory_order_acquire) & ~STOPPED) == 0) return true;
  open_calls_cancel_receives(scope);
  return false;
}

void speculation_close(Speculation* scope) {
  /* Relaxed: only the position in this word's modification order matters, and all_quiet acquires what the calls did. */
  if ((atomic_fetch_or_explicit(&scope->in_flight, STOPPED, memory_order_relaxed) & STOPPED) != 0)
    report_fatal("marline_mpi_speculation_stop was called a second time before marline_mpi_speculation_end");
  Quiet quiet = {
      .base = {.finished = all_quiet,
               .call =
                   &(const MpiCall){
                       .name = "marline_mpi_speculation_stop", .comm = scope->shadow, .peer = kNoPeer, .tag = kNoTag}},
      .scope = scope};
  engine_wait(&quiet.base);
}

/* Begin and end ---------------------------------------------------------------------------------------------------- */

static Speculation* take_slot(void) {
  for (int i = 0; i < kMostScopes; ++i) {
    /* Acquire: pairs with the release in marline_mpi_speculation_end; the slot's last use is over. */
    if (!atomic_exchange_explicit(&scopes[i].taken, true, memory_order_acquire)) return &scopes[i];
  }
  report_fatal("marline_mpi_speculation_begin: %d scopes are open already; end one before", kMostScopes);
}

static void reset(Speculation* scope, MPI_Comm comm) {
  atomic_store_explicit(&scope->comm, comm, memory_order_relaxed);
  atomic_store_explicit(&scope->in_flight, 0, memory_order_relaxed);
  _Atomic uint64_t* counters[] = {&scope->sent, &scope->received, &scope->withdrawn, &scope->refused};
  for (size_t i = 0; i < sizeof counters / sizeof counters[0]; ++i)
    atomic_store_explicit(counters[i], 0, memory_order_relaxed);
  scope->entered = scope->drained = scope->completed = 0;
  scope->kept = calloc(kCollectivesKept, sizeof *scope->kept);
  if (scope->kept == NULL)
    report_fatal("marline_mpi_speculation_begin: no memory for %d collectives", kCollectivesKept);
}

Speculation* marline_mpi_speculation_begin(MPI_Comm comm) {
  library_resolve();
  if (!engine_is_running()) return NULL;
  if (speculation_of(comm) != NULL)
    report_fatal("marline_mpi_speculation_begin: the communicator has a scope already; end that one before");
  const MpiCall call = {.name = "marline_mpi_speculation_begin", .comm = comm, .peer = kNoPeer, .tag = kNoTag};
  MPI_Comm shadow;
  MPI_Request request;
  const int started = next_mpi.comm_idup(comm, &shadow, &request);
  if (collective_complete(started, &request, __builtin_return_address(0), &call) != MPI_SUCCESS)
    report_fatal("marline_mpi_speculation_begin: MPI_Comm_idup failed on the communicator");
  comm_stop_log(comm); /* a rank that stops does not make all the calls */
  Speculation* scope = take_slot();
  reset(scope, comm);
  scope->shadow = shadow;
  /* Release: pairs with the acquire in speculation_find. */
  atomic_store_explicit(&scope->open, true, memory_order_release);
  atomic_fetch_add_explicit(&speculation_scopes, 1, memory_order_relaxed);
  return scope;
}

static uint64_t value(_Atomic uint64_t* counter) { return atomic_load_explicit(counter, memory_order_relaxed); }

void marline_mpi_speculation_end(Speculation* scope, marline_mpi_speculation_counts_t* counts) {
  if (counts != NULL) *counts = (marline_mpi_speculation_counts_t){0};
  if (scope == NULL) return;
  if (counts != NULL)
    *counts = (marline_mpi_speculation_counts_t){.sent = value(&scope->sent),
                                                 .received = value(&scope->received),
                                                 .withdrawn = value(&scope->withdrawn),
                                                 .drained = scope->drained,
                                                 .refused = value(&scope->refused),
                                                 .entered = scope->entered,
                                                 .completed = scope->completed};
  atomic_fetch_sub_explicit(&speculation_scopes, 1, memory_order_relaxed);
  atomic_store_explicit(&scope->open, false, memory_order_relaxed);
  next_mpi.comm_free(&scope->shadow);
  free(scope->kept);
  /* Release: pairs with the acquire in take_slot. */
  atomic_store_explicit(&scope->taken, false, memory_order_release);
}
