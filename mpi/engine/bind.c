/* SPDX-License-Identifier: Apache-2.0
 *
 * marline_mpi.h: requests with a completion that is reported (to a task, an event or a callback), without a task that
 * waits for them.
 *
 * The requests of one call are a Batch. The caller handles the requests that are already complete. The others go to the
 * engine, one Pending each. From the first of these on, only the poller uses the batch: it counts the requests down and
 * reports the end. A batch of one request comes from a list of unused batches; larger ones are allocated.
 *
 * If a function must wait itself, it calls MPI_Wait as the program would, which suspends or blocks as needed.
 */
#include "engine/bind.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/inside.h"
#include "base/report.h"
#include "compat/table.h"
#include "engine/engine.h"

typedef struct Batch Batch;

typedef struct Bound {
  Pending base; /* first: the engine hands back a pointer to it */
  Batch* batch;
  MPI_Request handle; /* the program's handle, for the recorder */
  MPI_Status own;     /* used if the program wants no status but the recorder does */
} Bound;

struct Batch {
  Batch* next;  /* the next in the list of unused batches */
  int requests; /* of the call */
  int open;     /* number of requests that are not complete; used by the poller */
  int error;
  marline_mpi_callback_fn callback;
  void* arg;
  Bound bound[]; /* the requests that were open at the call */
};

/* Reports to libmarline-trace, which defines this function if it is loaded, that a request is complete. Its wrappers
 * have recorded the start of the request. */
__attribute__((weak, visibility("default"))) void marline_trace_request_done(MPI_Request request,
                                                                             const MPI_Status* status);

/* Requests with the poller: counted up by the thread that gives them, down by the poller; relaxed. */
static atomic_int open_bound;

static pthread_mutex_t used_mutex = PTHREAD_MUTEX_INITIALIZER; /* for a few nanoseconds */
static Batch* used;                                            /* unused batches of one request */

static Batch* new_batch(int count) {
  Batch* batch = NULL;
  if (count <= 1) {
    pthread_mutex_lock(&used_mutex);
    batch = used;
    if (batch != NULL) used = batch->next;
    pthread_mutex_unlock(&used_mutex);
  }
  if (batch == NULL) batch = malloc(sizeof *batch + (size_t)(count > 1 ? count : 1) * sizeof batch->bound[0]);
  if (batch == NULL) report_fatal("no memory to serve %d MPI requests: bind fewer at a time", count);
  batch->requests = count;
  batch->open = 0;
  batch->error = MPI_SUCCESS;
  return batch;
}

static void drop_batch(Batch* batch) {
  if (batch->requests > 1) {
    free(batch);
    return;
  }
  pthread_mutex_lock(&used_mutex);
  batch->next = used;
  used = batch;
  pthread_mutex_unlock(&used_mutex);
}

/* Ends the batch and reports its end. Returns its error. */
static int report(Batch* batch) {
  const int error = batch->error;
  const marline_mpi_callback_fn callback = batch->callback;
  void* arg = batch->arg;
  drop_batch(batch);
  INSIDE_MPI; /* as from the poller: callbacks are always called the same way, and no task is suspended in one */
  callback(error, arg);
  return error;
}

static void completed(Pending* pending) {
  Batch* batch = ((Bound*)pending)->batch;
  note_result(batch->requests, pending->error, pending->status, &batch->error);
  if (marline_trace_request_done != NULL && pending->error == MPI_SUCCESS)
    marline_trace_request_done(((Bound*)pending)->handle, pending->status);
  atomic_fetch_sub_explicit(&open_bound, 1, memory_order_relaxed);
  if (--batch->open == 0) report(batch);
}

/* An empty status, for a request with a status that only the recorder wants. In MPICH, sends do not set the status. */
static MPI_Status empty_status(void) {
  MPI_Status status;
  MPI_Request null = MPI_REQUEST_NULL;
  int flag = 0;
  next_mpi.test(&null, &flag, &status);
  return status;
}

/* Tests one request. Returns false if it is open. */
static bool is_settled(Batch* batch, MPI_Request* request, MPI_Status* status) {
  const MPI_Request handle = *request;
  const bool recorded = marline_trace_request_done != NULL;
  Bound* bound = &batch->bound[batch->open];
  MPI_Status* asked = status;
  if (recorded && status == MPI_STATUS_IGNORE) {
    bound->own = empty_status();
    asked = &bound->own;
  }
  int flag = 0;
  const int error = next_mpi.test(request, &flag, asked);
  if (flag || error != MPI_SUCCESS) {
    note_result(batch->requests, error, status, &batch->error);
    if (recorded && error == MPI_SUCCESS) marline_trace_request_done(handle, asked);
    return true;
  }
  bound->base = (Pending){.request = handle, .status = asked, .error = MPI_SUCCESS, .completed = completed};
  bound->batch = batch;
  bound->handle = handle;
  return false;
}

/* Takes the requests that are complete now, or fail, and keeps the rest. Null and inactive requests are complete. */
static void sort_out(Batch* batch, MPI_Request requests[], MPI_Status* statuses) {
  const MPI_Request null = MPI_REQUEST_NULL;
  for (int i = 0; i < batch->requests; ++i) {
    if (!is_settled(batch, &requests[i], statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i]))
      ++batch->open;
    requests[i] = null;
  }
}

/* Gives the open requests to the poller. After the last engine_watch, the batch is the poller's; its count is the
 * poller's after the first one. */
static void watch(Batch* batch) {
  const int open = batch->open;
  atomic_fetch_add_explicit(&open_bound, open, memory_order_relaxed);
  for (int i = 0; i < open; ++i) engine_watch(&batch->bound[i].base);
}

int bound_requests(void) { return atomic_load_explicit(&open_bound, memory_order_relaxed); }

int marline_mpi_is_active(void) { return engine_is_running() ? 1 : 0; }

int marline_mpi_on_completion(int count, MPI_Request requests[], MPI_Status* statuses, marline_mpi_callback_fn callback,
                              void* arg) {
  library_resolve();
  if (!engine_is_running()) {
    const int error = wait_here(MPI_Wait, MPI_REQUEST_NULL, count, requests, statuses);
    callback(error, arg);
    return error;
  }
  Batch* batch = new_batch(count);
  sort_out(batch, requests, statuses);
  batch->callback = callback;
  batch->arg = arg;
  if (batch->open == 0) return report(batch);
  const int error = batch->error;
  watch(batch);
  return error;
}

static void release_task(int error, void* task) {
  (void)error; /* in the statuses */
  marline_task_release(task);
}

int marline_mpi_iwaitall(int count, MPI_Request requests[], MPI_Status* statuses) {
  library_resolve();
  marline_task_t* task = engine_is_running() ? marline_task_hold() : NULL;
  if (task == NULL) return wait_here(MPI_Wait, MPI_REQUEST_NULL, count, requests, statuses);
  return marline_mpi_on_completion(count, requests, statuses, release_task, task);
}

int marline_mpi_iwait(MPI_Request* request, MPI_Status* status) {
  return marline_mpi_iwaitall(1, request, status == MPI_STATUS_IGNORE ? MPI_STATUSES_IGNORE : status);
}

static void fulfill_event(int error, void* event) {
  (void)error;
  marline_event_fulfill(event);
}

int marline_mpi_fulfill(int count, MPI_Request requests[], MPI_Status* statuses, uintptr_t event) {
  return marline_mpi_on_completion(count, requests, statuses, fulfill_event, (void*)event);
}

extern const MarlineMpiTable marline_mpi_table;
__attribute__((visibility("default"))) const MarlineMpiTable marline_mpi_table = {
    .version = kTableVersion,
    .is_active = marline_mpi_is_active,
    .iwaitall = marline_mpi_iwaitall,
    .on_completion = marline_mpi_on_completion,
    .fulfill = marline_mpi_fulfill,
    .speculation_begin = marline_mpi_speculation_begin,
    .speculation_stop = marline_mpi_speculation_stop,
    .speculation_end = marline_mpi_speculation_end,
    .counters_read = marline_mpi_counters_read,
};
