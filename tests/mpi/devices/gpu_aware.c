/* SPDX-License-Identifier: Apache-2.0
 *
 * A stand-in for a GPU-aware MPI: the packaged libraries are not. Preloaded after Marline's libraries, or without them,
 * it lets MPI take pointers to the memory of emulated GPUs (tests/emulator), by copies through the host (staged.h). It
 * defines MPI_X and PMPI_X, so that libmarline-mpi takes it for the MPI library itself.
 *
 * What it does not do, because Open MPI and UCX do not do it, either: make a context current in the calling thread, and
 * (with Open MPI) nonblocking reductions (Open MPI 5.0, "Which MPI APIs do NOT work with CUDA-aware UCX"). What it does
 * not know, such as one-sided calls, fails as without it: no thread of the host can touch an emulated GPU's memory.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "staged.h"

#define SAME(name) extern __typeof__(name) P##name __attribute__((alias(#name)))

/* The function of the MPI library. Any thread may look it up. */
#define NEXT(name) ((__typeof__(&name))find_next("P" #name))

static void* find_next(const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  if (found == NULL) {
    fprintf(stderr, "gpu_aware: MPI has no %s\n", name);
    abort();
  }
  return found;
}

/* Point to point --------------------------------------------------------------------------------------------------- */

#define SEND(name)                                                                            \
  int name(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) { \
    Staged* staged = stage(buf, count, type, kRead, false);                                   \
    const int error = NEXT(name)(passed(staged, buf), count, type, dest, tag, comm);          \
    forget(staged);                                                                           \
    return error;                                                                             \
  }                                                                                           \
  SAME(name)

#define ISEND(name, persistent)                                                                                     \
  int name(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request* request) { \
    Staged* staged = stage(buf, count, type, kRead, false);                                                         \
    const int error = NEXT(name)(passed(staged, buf), count, type, dest, tag, comm, request);                       \
    keep(staged, request, error, persistent);                                                                       \
    return error;                                                                                                   \
  }                                                                                                                 \
  SAME(name)

#define IRECV(name, persistent)                                                                                 \
  int name(void* buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request* request) { \
    Staged* staged = stage(buf, count, type, kWritten, true);                                                   \
    const int error = NEXT(name)(passed(staged, buf), count, type, source, tag, comm, request);                 \
    keep(staged, request, error, persistent);                                                                   \
    return error;                                                                                               \
  }                                                                                                             \
  SAME(name)

SEND(MPI_Send);
SEND(MPI_Ssend);
SEND(MPI_Rsend);
SEND(MPI_Bsend);
ISEND(MPI_Isend, false);
ISEND(MPI_Issend, false);
ISEND(MPI_Irsend, false);
ISEND(MPI_Ibsend, false);
ISEND(MPI_Send_init, true);
ISEND(MPI_Ssend_init, true);
IRECV(MPI_Irecv, false);
IRECV(MPI_Recv_init, true);

int MPI_Recv(void* buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status* status) {
  MPI_Status own, *used = status == MPI_STATUS_IGNORE ? &own : status;
  Staged* staged = stage(buf, count, type, kWritten, true);
  const int error = NEXT(MPI_Recv)(passed(staged, buf), count, type, source, tag, comm, used);
  unstage(staged, used, error);
  return error;
}
SAME(MPI_Recv);

int MPI_Mrecv(void* buf, int count, MPI_Datatype type, MPI_Message* message, MPI_Status* status) {
  MPI_Status own, *used = status == MPI_STATUS_IGNORE ? &own : status;
  Staged* staged = stage(buf, count, type, kWritten, true);
  const int error = NEXT(MPI_Mrecv)(passed(staged, buf), count, type, message, used);
  unstage(staged, used, error);
  return error;
}
SAME(MPI_Mrecv);

int MPI_Imrecv(void* buf, int count, MPI_Datatype type, MPI_Message* message, MPI_Request* request) {
  Staged* staged = stage(buf, count, type, kWritten, true);
  const int error = NEXT(MPI_Imrecv)(passed(staged, buf), count, type, message, request);
  keep(staged, request, error, false);
  return error;
}
SAME(MPI_Imrecv);

int MPI_Sendrecv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void* recvbuf,
                 int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status* status) {
  MPI_Status own, *used = status == MPI_STATUS_IGNORE ? &own : status;
  Staged* sent = stage(sendbuf, sendcount, sendtype, kRead, false);
  Staged* received = stage(recvbuf, recvcount, recvtype, kWritten, true);
  const int error = NEXT(MPI_Sendrecv)(passed(sent, sendbuf), sendcount, sendtype, dest, sendtag,
                                       passed(received, recvbuf), recvcount, recvtype, source, recvtag, comm, used);
  forget(sent);
  unstage(received, used, error);
  return error;
}
SAME(MPI_Sendrecv);

int MPI_Sendrecv_replace(void* buf, int count, MPI_Datatype type, int dest, int sendtag, int source, int recvtag,
                         MPI_Comm comm, MPI_Status* status) {
  MPI_Status own, *used = status == MPI_STATUS_IGNORE ? &own : status;
  Staged* staged = stage(buf, count, type, kBoth, true);
  const int error =
      NEXT(MPI_Sendrecv_replace)(passed(staged, buf), count, type, dest, sendtag, source, recvtag, comm, used);
  unstage(staged, used, error);
  return error;
}
SAME(MPI_Sendrecv_replace);

int MPI_Pack(const void* in, int count, MPI_Datatype type, void* out, int size, int* position, MPI_Comm comm) {
  Staged* staged = stage(in, count, type, kRead, false);
  Staged* packed = stage(out, size, MPI_PACKED, kBoth, false);
  const int error = NEXT(MPI_Pack)(passed(staged, in), count, type, passed(packed, out), size, position, comm);
  forget(staged);
  unstage(packed, MPI_STATUS_IGNORE, error);
  return error;
}
SAME(MPI_Pack);

int MPI_Unpack(const void* in, int size, int* position, void* out, int count, MPI_Datatype type, MPI_Comm comm) {
  Staged* packed = stage(in, size, MPI_PACKED, kRead, false);
  Staged* staged = stage(out, count, type, kWritten, false);
  const int error = NEXT(MPI_Unpack)(passed(packed, in), size, position, passed(staged, out), count, type, comm);
  forget(packed);
  unstage(staged, MPI_STATUS_IGNORE, error);
  return error;
}
SAME(MPI_Unpack);

/* Persistent requests ---------------------------------------------------------------------------------------------- */

static void start_again(MPI_Request request) {
  Staged* staged = is_any_kept() ? take(request) : NULL;
  copy_again(staged);
  put_back(staged);
}

int MPI_Start(MPI_Request* request) {
  start_again(*request);
  return NEXT(MPI_Start)(request);
}
SAME(MPI_Start);

int MPI_Startall(int count, MPI_Request requests[]) {
  for (int i = 0; i < count; ++i) start_again(requests[i]);
  return NEXT(MPI_Startall)(count, requests);
}
SAME(MPI_Startall);

/* A request in flight is not freed: MPI may still read its buffer. */
int MPI_Request_free(MPI_Request* request) {
  Staged* staged = is_any_kept() ? take(*request) : NULL;
  const int error = NEXT(MPI_Request_free)(request);
  if (staged != NULL && staged->persistent && !staged->active) forget(staged);
  return error;
}
SAME(MPI_Request_free);

/* Completion ------------------------------------------------------------------------------------------------------- */

/* The request has been tested: `done` says whether it has completed. */
static void settle(Staged* chain, bool done, MPI_Request now, const MPI_Status* status, int error) {
  if (chain == NULL) return;
  const MPI_Request null = MPI_REQUEST_NULL;
  const bool was_active = chain->active;
  if (done && was_active) copy_back(chain, status, error);
  for (Staged* staged = chain; done && staged != NULL; staged = staged->next) staged->active = false;
  if (now == null)
    forget(chain);
  else
    put_back(chain);
}

/* The records of the requests of a call, taken out of the list. */
typedef struct Taken {
  int count;
  Staged** staged; /* by index */
  MPI_Status* own; /* in place of MPI_STATUSES_IGNORE */
} Taken;

static Taken take_all(int count, const MPI_Request* requests) {
  Taken taken = {.count = count,
                 .staged = calloc((size_t)count + 1, sizeof(Staged*)),
                 .own = calloc((size_t)count + 1, sizeof(MPI_Status))};
  for (int i = 0; i < count; ++i) taken.staged[i] = take(requests[i]);
  return taken;
}

static void give_back(const Taken* taken) {
  free(taken->staged);
  free(taken->own);
}

int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  if (!is_any_kept()) return NEXT(MPI_Test)(request, flag, status);
  MPI_Status own, *used = status == MPI_STATUS_IGNORE ? &own : status;
  Staged* staged = take(*request);
  const int error = NEXT(MPI_Test)(request, flag, used);
  settle(staged, *flag, *request, used, error);
  return error;
}
SAME(MPI_Test);

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  if (!is_any_kept()) return NEXT(MPI_Wait)(request, status);
  MPI_Status own, *used = status == MPI_STATUS_IGNORE ? &own : status;
  Staged* staged = take(*request);
  const int error = NEXT(MPI_Wait)(request, used);
  settle(staged, true, *request, used, error);
  return error;
}
SAME(MPI_Wait);

int MPI_Testany(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  if (!is_any_kept()) return NEXT(MPI_Testany)(count, requests, index, flag, status);
  MPI_Status own, *used = status == MPI_STATUS_IGNORE ? &own : status;
  Taken taken = take_all(count, requests);
  const int error = NEXT(MPI_Testany)(count, requests, index, flag, used);
  for (int i = 0; i < count; ++i) settle(taken.staged[i], *flag && i == *index, requests[i], used, error);
  give_back(&taken);
  return error;
}
SAME(MPI_Testany);

int MPI_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  if (!is_any_kept()) return NEXT(MPI_Waitany)(count, requests, index, status);
  MPI_Status own, *used = status == MPI_STATUS_IGNORE ? &own : status;
  Taken taken = take_all(count, requests);
  const int error = NEXT(MPI_Waitany)(count, requests, index, used);
  for (int i = 0; i < count; ++i) settle(taken.staged[i], i == *index, requests[i], used, error);
  give_back(&taken);
  return error;
}
SAME(MPI_Waitany);

/* After a call for all requests that has ended, or, with an error, for some. */
static void settle_all(const Taken* taken, bool done, const MPI_Request* requests, const MPI_Status* statuses,
                       int error) {
  int class = MPI_SUCCESS;
  if (error != MPI_SUCCESS) PMPI_Error_class(error, &class);
  for (int i = 0; i < taken->count; ++i) {
    const int of_this = class == MPI_ERR_IN_STATUS ? statuses[i].MPI_ERROR : error;
    settle(taken->staged[i], done && of_this == MPI_SUCCESS, requests[i], statuses + i, MPI_SUCCESS);
  }
}

int MPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  if (!is_any_kept()) return NEXT(MPI_Testall)(count, requests, flag, statuses);
  Taken taken = take_all(count, requests);
  MPI_Status* used = statuses == MPI_STATUSES_IGNORE ? taken.own : statuses;
  const int error = NEXT(MPI_Testall)(count, requests, flag, used);
  settle_all(&taken, *flag || error != MPI_SUCCESS, requests, used, error);
  give_back(&taken);
  return error;
}
SAME(MPI_Testall);

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  if (!is_any_kept()) return NEXT(MPI_Waitall)(count, requests, statuses);
  Taken taken = take_all(count, requests);
  MPI_Status* used = statuses == MPI_STATUSES_IGNORE ? taken.own : statuses;
  const int error = NEXT(MPI_Waitall)(count, requests, used);
  settle_all(&taken, true, requests, used, error);
  give_back(&taken);
  return error;
}
SAME(MPI_Waitall);

static void settle_some(const Taken* taken, int found, const int* indices, const MPI_Request* requests,
                        const MPI_Status* statuses, int error) {
  for (int k = 0; found != MPI_UNDEFINED && k < found; ++k) {
    const int i = indices[k];
    settle(taken->staged[i], true, requests[i], statuses + k, error);
    taken->staged[i] = NULL;
  }
  for (int i = 0; i < taken->count; ++i) settle(taken->staged[i], false, requests[i], NULL, error);
}

#define SOME(name)                                                                                \
  int name(int count, MPI_Request requests[], int* found, int indices[], MPI_Status statuses[]) { \
    if (!is_any_kept()) return NEXT(name)(count, requests, found, indices, statuses);             \
    Taken taken = take_all(count, requests);                                                      \
    MPI_Status* used = statuses == MPI_STATUSES_IGNORE ? taken.own : statuses;                    \
    const int error = NEXT(name)(count, requests, found, indices, used);                          \
    settle_some(&taken, *found, indices, requests, used, error);                                  \
    give_back(&taken);                                                                            \
    return error;                                                                                 \
  }                                                                                               \
  SAME(name)

SOME(MPI_Testsome);
SOME(MPI_Waitsome);
