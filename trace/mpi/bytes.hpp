// SPDX-License-Identifier: Apache-2.0
//
// Computes how many bytes a call moves, from its counts and datatypes: of type int or MPI_Count, one count, or one per
// process or neighbour. Local and without side effects. An invalid count gives 0; the MPI call itself reports the
// error.
#ifndef MARLINE_TRACE_MPI_BYTES_HPP
#define MARLINE_TRACE_MPI_BYTES_HPP

#include "mpi/calls.hpp"

namespace marline::trace {

u64 bytes_of(MPI_Count count, MPI_Datatype type);

// peers: how many processes a collective on `comm` communicates with (of an inter-communicator: the remote group).
// members: the size of the local group. own_rank: the rank of this process in it. neighbours: how many neighbours it
// sends to in its topology.
u64 peers(MPI_Comm comm);
u64 members(MPI_Comm comm);
int own_rank(MPI_Comm comm);
u64 neighbours(MPI_Comm comm);

template <class Count>
u64 sum_of(const Count* counts, u64 n, MPI_Datatype type) {
  MPI_Count sum = 0;
  for (u64 i = 0; i < n; ++i) {
    sum += counts[i];
  }
  return bytes_of(sum, type);
}

template <class Count>
u64 sum_of(const Count* counts, u64 n, const MPI_Datatype* types) {
  u64 sum = 0;
  for (u64 i = 0; i < n; ++i) {
    sum += bytes_of(counts[i], types[i]);
  }
  return sum;
}

// False for MPI_ROOT and MPI_PROC_NULL, the roots on the other side of an inter-communicator. They neither gather from
// nor scatter to this process, and its counts mean nothing then.
inline bool takes_part(int root) { return root >= 0; }

}  // namespace marline::trace

#endif
