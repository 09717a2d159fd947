// SPDX-License-Identifier: Apache-2.0
//
// The process's rank in MPI, which may become known only after recording has begun.
#ifndef MARLINE_TRACE_RANK_HPP
#define MARLINE_TRACE_RANK_HPP

namespace marline::trace {

// Stores what MPI_Init learned, and renames the description if the environment did not say the rank.
void set_mpi(int rank, int size, const char* library);

}  // namespace marline::trace

#endif
