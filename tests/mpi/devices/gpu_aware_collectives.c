/* SPDX-License-Identifier: Apache-2.0
 *
 * The collectives of the stand-in for a GPU-aware MPI (gpu_aware.c).
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>

#include "staged.h"

#define SAME(name) extern __typeof__(name) P##name __attribute__((alias(#name)))
#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, "P" #name))

/* Both buffers of a reduction or of an Allgather. */
typedef struct Buffers {
  Staged *sent, *received;
} Buffers;

static Buffers stage_both(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                          MPI_Count recvcount, MPI_Datatype recvtype) {
  const bool in_place = sendbuf == MPI_IN_PLACE;
  return (Buffers){in_place ? NULL : stage(sendbuf, sendcount, sendtype, kRead, false),
                   stage(recvbuf, recvcount, recvtype, in_place ? kBoth : kWritten, false)};
}

static int end_both(Buffers buffers, int error) {
  forget(buffers.sent);
  unstage(buffers.received, MPI_STATUS_IGNORE, error);
  return error;
}

static int keep_both(Buffers buffers, const MPI_Request* request, int error) {
  keep(buffers.sent, request, error, false);
  keep(buffers.received, request, error, false);
  return error;
}

static int rank_in(MPI_Comm comm) {
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  return rank;
}

static int ranks_of(MPI_Comm comm) {
  int ranks = 0;
  PMPI_Comm_size(comm, &ranks);
  return ranks;
}

int MPI_Allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  Buffers b = stage_both(sendbuf, count, type, recvbuf, count, type);
  return end_both(b, NEXT(MPI_Allreduce)(passed(b.sent, sendbuf), passed(b.received, recvbuf), count, type, op, comm));
}
SAME(MPI_Allreduce);

int MPI_Reduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  Buffers b = stage_both(sendbuf, count, type, rank_in(comm) == root ? recvbuf : NULL, count, type);
  return end_both(b,
                  NEXT(MPI_Reduce)(passed(b.sent, sendbuf), passed(b.received, recvbuf), count, type, op, root, comm));
}
SAME(MPI_Reduce);

#ifndef OPEN_MPI /* its nonblocking reductions follow the pointer on the host */
int MPI_Iallreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request* request) {
  Buffers b = stage_both(sendbuf, count, type, recvbuf, count, type);
  const int error =
      NEXT(MPI_Iallreduce)(passed(b.sent, sendbuf), passed(b.received, recvbuf), count, type, op, comm, request);
  return keep_both(b, request, error);
}
SAME(MPI_Iallreduce);

int MPI_Ireduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm,
                MPI_Request* request) {
  Buffers b = stage_both(sendbuf, count, type, rank_in(comm) == root ? recvbuf : NULL, count, type);
  const int error =
      NEXT(MPI_Ireduce)(passed(b.sent, sendbuf), passed(b.received, recvbuf), count, type, op, root, comm, request);
  return keep_both(b, request, error);
}
SAME(MPI_Ireduce);
#endif

int MPI_Bcast(void* buf, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  Staged* staged = stage(buf, count, type, rank_in(comm) == root ? kRead : kWritten, false);
  const int error = NEXT(MPI_Bcast)(passed(staged, buf), count, type, root, comm);
  unstage(staged, MPI_STATUS_IGNORE, error);
  return error;
}
SAME(MPI_Bcast);

int MPI_Ibcast(void* buf, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request) {
  Staged* staged = stage(buf, count, type, rank_in(comm) == root ? kRead : kWritten, false);
  const int error = NEXT(MPI_Ibcast)(passed(staged, buf), count, type, root, comm, request);
  keep(staged, request, error, false);
  return error;
}
SAME(MPI_Ibcast);

int MPI_Allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                  MPI_Datatype recvtype, MPI_Comm comm) {
  Buffers b = stage_both(sendbuf, sendcount, sendtype, recvbuf, (MPI_Count)recvcount * ranks_of(comm), recvtype);
  return end_both(b, NEXT(MPI_Allgather)(passed(b.sent, sendbuf), sendcount, sendtype, passed(b.received, recvbuf),
                                         recvcount, recvtype, comm));
}
SAME(MPI_Allgather);

int MPI_Iallgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                   MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  Buffers b = stage_both(sendbuf, sendcount, sendtype, recvbuf, (MPI_Count)recvcount * ranks_of(comm), recvtype);
  const int error = NEXT(MPI_Iallgather)(passed(b.sent, sendbuf), sendcount, sendtype, passed(b.received, recvbuf),
                                         recvcount, recvtype, comm, request);
  return keep_both(b, request, error);
}
SAME(MPI_Iallgather);
