// SPDX-License-Identifier: Apache-2.0
//
// Entry points: collectives. `bytes` is what this rank puts in (for MPI_Bcast and MPI_Scatter: what each rank gets).
#include "mpi_calls.hpp"

using namespace marline::trace;

MARLINE_MPI int MPI_Barrier(MPI_Comm comm) {
  const Call call = enter(call::k_MPI_Barrier, comm);
  const int result = PMPI_Barrier(comm);
  leave(call);
  return result;
}

MARLINE_MPI int MPI_Bcast(void *buf, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  const Call call = enter(call::k_MPI_Bcast, comm, root, kNone, count, type);
  const int result = PMPI_Bcast(buf, count, type, root, comm);
  leave(call);
  return result;
}

MARLINE_MPI int MPI_Reduce(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, int root,
                           MPI_Comm comm) {
  const Call call = enter(call::k_MPI_Reduce, comm, root, kNone, count, type);
  const int result = PMPI_Reduce(send, recv, count, type, op, root, comm);
  leave(call);
  return result;
}

MARLINE_MPI int MPI_Allreduce(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const Call call = enter(call::k_MPI_Allreduce, comm, kNone, kNone, count, type);
  const int result = PMPI_Allreduce(send, recv, count, type, op, comm);
  leave(call);
  return result;
}

// With MPI_IN_PLACE the send count and type are not significant (MPI 4.0, 6.5): the receiving ones say the same.
MARLINE_MPI int MPI_Gather(const void *send, int send_count, MPI_Datatype send_type, void *recv, int recv_count,
                           MPI_Datatype recv_type, int root, MPI_Comm comm) {
  const bool in_place = send == MPI_IN_PLACE;
  const Call call = enter(call::k_MPI_Gather, comm, root, kNone, in_place ? recv_count : send_count,
                          in_place ? recv_type : send_type);
  const int result = PMPI_Gather(send, send_count, send_type, recv, recv_count, recv_type, root, comm);
  leave(call);
  return result;
}

MARLINE_MPI int MPI_Allgather(const void *send, int send_count, MPI_Datatype send_type, void *recv, int recv_count,
                              MPI_Datatype recv_type, MPI_Comm comm) {
  const Call call = enter(call::k_MPI_Allgather, comm, kNone, kNone, recv_count, recv_type);
  const int result = PMPI_Allgather(send, send_count, send_type, recv, recv_count, recv_type, comm);
  leave(call);
  return result;
}

MARLINE_MPI int MPI_Scatter(const void *send, int send_count, MPI_Datatype send_type, void *recv, int recv_count,
                            MPI_Datatype recv_type, int root, MPI_Comm comm) {
  const bool in_place = recv == MPI_IN_PLACE;
  const Call call = enter(call::k_MPI_Scatter, comm, root, kNone, in_place ? send_count : recv_count,
                          in_place ? send_type : recv_type);
  const int result = PMPI_Scatter(send, send_count, send_type, recv, recv_count, recv_type, root, comm);
  leave(call);
  return result;
}

MARLINE_MPI int MPI_Alltoall(const void *send, int send_count, MPI_Datatype send_type, void *recv, int recv_count,
                             MPI_Datatype recv_type, MPI_Comm comm) {
  const Call call = enter(call::k_MPI_Alltoall, comm, kNone, kNone, recv_count, recv_type);
  const int result = PMPI_Alltoall(send, send_count, send_type, recv, recv_count, recv_type, comm);
  leave(call);
  return result;
}
