/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of compat/mpi-detach.h, in terms of marline_mpi.h. In libmarline-mpi and in the archive that programs
 * link. A record that is passed to the callback holds the program's function and its statuses.
 */
#pragma GCC visibility push(default)
#include "marline/compat/mpi-detach.h"
#pragma GCC visibility pop

#include <sched.h>
#include <stdlib.h>

#include "marline/marline_mpi.h"

typedef enum CallbackKind { kPlain, kStatus, kAllStatuses } CallbackKind;

typedef struct Detached {
  union {
    MPIX_Detach_function* plain;
    MPIX_Detach_status_function* status;
    MPIX_Detach_all_statuses_function* all_statuses;
  } callback;
  void* data;
  CallbackKind kind;
  int count;
  MPI_Status statuses[]; /* not with kPlain */
} Detached;

static void completed(int error, void* arg) {
  (void)error; /* in the statuses */
  Detached* detached = arg;
  switch (detached->kind) {
    case kPlain: detached->callback.plain(detached->data); break;
    case kStatus: detached->callback.status(detached->data, detached->statuses); break;
    case kAllStatuses: detached->callback.all_statuses(detached->data, detached->count, detached->statuses); break;
  }
  free(detached);
}

static int detach(Detached what, MPI_Request requests[]) {
  const size_t statuses = what.kind == kPlain ? 0 : (size_t)what.count;
  Detached* detached = malloc(sizeof *detached + statuses * sizeof(MPI_Status));
  if (detached == NULL) return MPI_ERR_NO_MEM;
  *detached = what;
  return marline_mpi_on_completion(what.count, requests, statuses == 0 ? MPI_STATUSES_IGNORE : detached->statuses,
                                   completed, detached);
}

int MPIX_Detach_all(int count, MPI_Request requests[], MPIX_Detach_callback* callback, void* data) {
  return detach((Detached){.callback.plain = callback, .data = data, .kind = kPlain, .count = count}, requests);
}

int MPIX_Detach_all_status(int count, MPI_Request requests[], MPIX_Detach_all_callback_statuses* callback, void* data) {
  return detach((Detached){.callback.all_statuses = callback, .data = data, .kind = kAllStatuses, .count = count},
                requests);
}

int MPIX_Detach(MPI_Request* request, MPIX_Detach_callback* callback, void* data) {
  return MPIX_Detach_all(1, request, callback, data);
}

int MPIX_Detach_status(MPI_Request* request, MPIX_Detach_callback_status* callback, void* data) {
  return detach((Detached){.callback.status = callback, .data = data, .kind = kStatus, .count = 1}, request);
}

int MPIX_Detach_each(int count, MPI_Request requests[], MPIX_Detach_callback* callback, void* data[]) {
  int error = MPI_SUCCESS;
  for (int i = 0; i < count; ++i) {
    const int one = MPIX_Detach(&requests[i], callback, data[i]);
    error = error == MPI_SUCCESS ? one : error;
  }
  return error;
}

int MPIX_Detach_each_status(int count, MPI_Request requests[], MPIX_Detach_callback_status* callback, void* data[]) {
  int error = MPI_SUCCESS;
  for (int i = 0; i < count; ++i) {
    const int one = MPIX_Detach_status(&requests[i], callback, data[i]);
    error = error == MPI_SUCCESS ? one : error;
  }
  return error;
}

int MPIX_Progress(void* unused) {
  (void)unused;
  sched_yield();
  return MPI_SUCCESS;
}
