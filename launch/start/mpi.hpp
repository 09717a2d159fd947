// SPDX-License-Identifier: Apache-2.0
//
// The implementations of MPI, and what their launchers tell the processes that they start. An implementation is named
// as in --mpi: "openmpi", "mpich", "standard" (the standard ABI of MPI 5.0); "" is none.
#ifndef MARLINE_LAUNCH_START_MPI_HPP
#define MARLINE_LAUNCH_START_MPI_HPP

#include <optional>
#include <string>

#include "base/environment.hpp"

namespace marline::launch {

bool is_mpi(const std::string& name);
// "Open MPI" for "openmpi".
std::string name_of_mpi(const std::string& mpi);

// Which rank a launcher says that this process is; nothing if none has started it.
std::optional<std::string> rank_in(const Environment& environment);
// The other implementation, if only its launcher's variables are there; else "".
std::string started_by_other(const std::string& mpi, const Environment& environment);
// The implementation whose launcher has started this process; "": no launcher has.
std::string mpi_of_rank(const Environment& environment);

}  // namespace marline::launch

#endif
