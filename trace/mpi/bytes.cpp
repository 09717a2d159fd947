// SPDX-License-Identifier: Apache-2.0
//
// Sizes of datatypes and communicators.
#include "mpi/bytes.hpp"

namespace marline::trace {

u64 bytes_of(MPI_Count count, MPI_Datatype type) {
  MPI_Count size = 0;
  if (count <= 0 || type == MPI_DATATYPE_NULL) {
    return 0;
  }
  mpi().Type_size_x(type, &size);
  return size <= 0 ? 0 : static_cast<u64>(count) * static_cast<u64>(size);
}

u64 members(MPI_Comm comm) {
  int size = 0;
  mpi().Comm_size(comm, &size);
  return static_cast<u64>(size);
}

u64 peers(MPI_Comm comm) {
  int inter = 0;
  int size = 0;
  mpi().Comm_test_inter(comm, &inter);
  if (!inter) {
    return members(comm);
  }
  mpi().Comm_remote_size(comm, &size);
  return static_cast<u64>(size);
}

int own_rank(MPI_Comm comm) {
  int rank = 0;
  mpi().Comm_rank(comm, &rank);
  return rank;
}

u64 neighbours(MPI_Comm comm) {
  int kind = MPI_UNDEFINED;
  mpi().Topo_test(comm, &kind);
  int in = 0;
  int out = 0;
  int weighted = 0;
  if (kind == MPI_DIST_GRAPH) {
    mpi().Dist_graph_neighbors_count(comm, &in, &out, &weighted);
  } else if (kind == MPI_GRAPH) {
    mpi().Graph_neighbors_count(comm, own_rank(comm), &out);
  } else if (kind == MPI_CART) {
    mpi().Cartdim_get(comm, &out);
    out *= 2;
  }
  return static_cast<u64>(out);
}

}  // namespace marline::trace
