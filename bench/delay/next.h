/* SPDX-License-Identifier: Apache-2.0
 *
 * The MPI functions behind this library, found once when it is loaded (RTLD_NEXT, so that it can stand anywhere in a
 * chain of preloaded libraries) and only read afterwards, by any thread. All are PMPI_: what stands in front has had
 * its turn.
 */
#ifndef MARLINE_DELAY_NEXT_H
#define MARLINE_DELAY_NEXT_H

#include <mpi.h>

// clang-format off
#define DELAY_BASE(X)                                                                                                  \
  X(Init) X(Init_thread) X(Pcontrol) X(Finalize) X(Abort) X(Comm_create_keyval) X(Comm_free_keyval) X(Comm_set_attr)   \
  X(Comm_get_attr) X(Comm_group) X(Group_translate_ranks) X(Group_size) X(Group_free) X(Comm_test_inter)               \
  X(Comm_split_type) X(Type_size) X(Comm_free) X(Comm_rank) X(Comm_size) X(Win_allocate_shared) X(Win_shared_query)    \
  X(Win_free) X(Barrier) X(Comm_dup) X(Comm_split) X(Comm_create) X(Cart_create) X(Win_create) X(Win_allocate)         \
  X(Win_create_dynamic) X(Send_init)
#define DELAY_POINT_TO_POINT(X)                                                                                        \
  X(Send) X(Ssend) X(Bsend) X(Rsend) X(Isend) X(Issend) X(Ibsend) X(Irsend) X(Recv) X(Irecv) X(Mrecv) X(Imrecv)        \
  X(Mprobe) X(Improbe) X(Sendrecv) X(Sendrecv_replace) X(Recv_init) X(Start) X(Startall) X(Cancel) X(Iprobe)
#define DELAY_COMPLETION(X)                                                                                            \
  X(Test) X(Testany) X(Testsome) X(Testall) X(Wait) X(Waitany) X(Waitsome) X(Waitall) X(Request_get_status)            \
  X(Request_free)
#define DELAY_COLLECTIVES(X)                                                                                           \
  X(Bcast) X(Reduce) X(Allreduce) X(Gather) X(Gatherv) X(Scatter) X(Scatterv) X(Allgather) X(Allgatherv) X(Alltoall)   \
  X(Alltoallv) X(Alltoallw) X(Reduce_scatter) X(Reduce_scatter_block) X(Scan) X(Exscan) X(Neighbor_allgather)          \
  X(Neighbor_alltoall) X(Ibarrier) X(Ibcast) X(Ireduce) X(Iallreduce) X(Igather) X(Igatherv) X(Iscatter) X(Iscatterv)  \
  X(Iallgather) X(Iallgatherv) X(Ialltoall) X(Ialltoallv) X(Ialltoallw) X(Ireduce_scatter) X(Ireduce_scatter_block)    \
  X(Iscan) X(Iexscan) X(Ineighbor_allgather) X(Ineighbor_alltoall)
// clang-format on
#define DELAY_ALL(X) DELAY_BASE(X) DELAY_POINT_TO_POINT(X) DELAY_COMPLETION(X) DELAY_COLLECTIVES(X)

typedef struct Next {
#define DELAY_MEMBER(name) __typeof__(PMPI_##name)* name;
  DELAY_ALL(DELAY_MEMBER)
#undef DELAY_MEMBER
} Next;

extern Next next;

#endif
