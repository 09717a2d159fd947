// SPDX-License-Identifier: Apache-2.0
//
// How many bytes a call moves, from its counts and datatypes: int or MPI_Count, one, or one per process or neighbour.
// Local and without side effects. An invalid count gives 0; the MPI call itself reports the error.
#ifndef MARLINE_TRACE_MPI_BYTES_HPP
#define MARLINE_TRACE_MPI_BYTES_HPP

#include "mpi/calls.hpp"

namespace marline::trace {

u64 bytes_of(MPI_Count count, MPI_Datatype type);

// How many processes a collective on `comm` talks to (of an inter-communicator: the remote group), how many are in the
// local group, which of them this is, and how many neighbours it sends to in its topology.
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

// MPI_ROOT and MPI_PROC_NULL, the roots of an inter-communicator's other side, neither gather from nor scatter to this
// process; its counts mean nothing then.
inline bool takes_part(int root) { return root >= 0; }

}  // namespace marline::trace

#endif
