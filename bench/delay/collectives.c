/* SPDX-License-Identifier: Apache-2.0
 *
 * Collectives take one delay more, however many messages they are made of: a nonblocking one is held back, a blocking
 * one returns that much later. No state. Any thread.
 */
#include "held.h"
#include "next.h"

static int blocking(int error) {
  linger(0);
  return error;
}

static int nonblocking(int error, const MPI_Request* request) {
  if (error == MPI_SUCCESS) held_add(*request, 0);
  return error;
}

#define ALIAS(name) extern __typeof__(MPI_##name) PMPI_##name __attribute__((alias("MPI_" #name)))
#define LIST(...) __VA_ARGS__

/* MPI_NAME and MPI_INAME with these parameters, passed on as these arguments. */
#define COLLECTIVE(name, nonblocking_name, parameters, arguments)           \
  int MPI_##name(parameters) { return blocking(next.name(arguments)); }     \
  ALIAS(name);                                                              \
  int MPI_##nonblocking_name(parameters, MPI_Request* request) {            \
    return nonblocking(next.nonblocking_name(arguments, request), request); \
  }                                                                         \
  ALIAS(nonblocking_name)

#define EACH const void *send, int send_count, MPI_Datatype send_type
#define PARTS const void *send, const int send_counts[], const int send_places[], MPI_Datatype send_type
#define INTO void *recv, int recv_count, MPI_Datatype recv_type
#define INTO_PARTS void *recv, const int recv_counts[], const int recv_places[], MPI_Datatype recv_type
#define EACH_TYPE const void *send, const int send_counts[], const int send_places[], const MPI_Datatype send_types[]
#define INTO_TYPE void *recv, const int recv_counts[], const int recv_places[], const MPI_Datatype recv_types[]
#define REDUCED const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op

COLLECTIVE(Barrier, Ibarrier, LIST(MPI_Comm comm), comm);
COLLECTIVE(Bcast, Ibcast, LIST(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm),
           LIST(data, count, type, root, comm));
COLLECTIVE(Reduce, Ireduce, LIST(REDUCED, int root, MPI_Comm comm), LIST(send, recv, count, type, op, root, comm));
COLLECTIVE(Allreduce, Iallreduce, LIST(REDUCED, MPI_Comm comm), LIST(send, recv, count, type, op, comm));
COLLECTIVE(Gather, Igather, LIST(EACH, INTO, int root, MPI_Comm comm),
           LIST(send, send_count, send_type, recv, recv_count, recv_type, root, comm));
COLLECTIVE(Gatherv, Igatherv, LIST(EACH, INTO_PARTS, int root, MPI_Comm comm),
           LIST(send, send_count, send_type, recv, recv_counts, recv_places, recv_type, root, comm));
COLLECTIVE(Scatter, Iscatter, LIST(EACH, INTO, int root, MPI_Comm comm),
           LIST(send, send_count, send_type, recv, recv_count, recv_type, root, comm));
COLLECTIVE(Scatterv, Iscatterv, LIST(PARTS, INTO, int root, MPI_Comm comm),
           LIST(send, send_counts, send_places, send_type, recv, recv_count, recv_type, root, comm));
COLLECTIVE(Allgather, Iallgather, LIST(EACH, INTO, MPI_Comm comm),
           LIST(send, send_count, send_type, recv, recv_count, recv_type, comm));
COLLECTIVE(Allgatherv, Iallgatherv, LIST(EACH, INTO_PARTS, MPI_Comm comm),
           LIST(send, send_count, send_type, recv, recv_counts, recv_places, recv_type, comm));
COLLECTIVE(Alltoall, Ialltoall, LIST(EACH, INTO, MPI_Comm comm),
           LIST(send, send_count, send_type, recv, recv_count, recv_type, comm));
COLLECTIVE(Alltoallv, Ialltoallv, LIST(PARTS, INTO_PARTS, MPI_Comm comm),
           LIST(send, send_counts, send_places, send_type, recv, recv_counts, recv_places, recv_type, comm));
COLLECTIVE(Alltoallw, Ialltoallw, LIST(EACH_TYPE, INTO_TYPE, MPI_Comm comm),
           LIST(send, send_counts, send_places, send_types, recv, recv_counts, recv_places, recv_types, comm));
COLLECTIVE(Reduce_scatter, Ireduce_scatter,
           LIST(const void* send, void* recv, const int counts[], MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           LIST(send, recv, counts, type, op, comm));
COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block, LIST(REDUCED, MPI_Comm comm),
           LIST(send, recv, count, type, op, comm));
COLLECTIVE(Scan, Iscan, LIST(REDUCED, MPI_Comm comm), LIST(send, recv, count, type, op, comm));
COLLECTIVE(Exscan, Iexscan, LIST(REDUCED, MPI_Comm comm), LIST(send, recv, count, type, op, comm));
COLLECTIVE(Neighbor_allgather, Ineighbor_allgather, LIST(EACH, INTO, MPI_Comm comm),
           LIST(send, send_count, send_type, recv, recv_count, recv_type, comm));
COLLECTIVE(Neighbor_alltoall, Ineighbor_alltoall, LIST(EACH, INTO, MPI_Comm comm),
           LIST(send, send_count, send_type, recv, recv_count, recv_type, comm));
