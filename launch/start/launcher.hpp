// SPDX-License-Identifier: Apache-2.0
//
// MPI's launchers: finding one, and its command line. Each rank is started as `marline run` of its own (without -n), so
// that a job started by `marline run -n`, by the user's own mpirun and by srun takes one path, and every node proves
// its own processes.
#ifndef MARLINE_LAUNCH_START_LAUNCHER_HPP
#define MARLINE_LAUNCH_START_LAUNCHER_HPP

#include <functional>
#include <optional>
#include <string>

#include "base/environment.hpp"

namespace marline::launch {

// The launcher that starts ranks of this MPI. Refusal if there is none.
std::string require_launcher(const std::string& mpi, const Environment& environment);
// The first in PATH that is one of this MPI, else the first that is not known as another's (a site's own script, say).
std::optional<std::string> find_launcher(const std::string& mpi, const Environment& environment);
// The version that it prints, if it is one of this MPI.
std::optional<std::string> version_of_launcher(const std::string& path, const std::string& mpi,
                                               const Environment& environment);

// The words before those of `marline run`, which binds its rank itself (place/) where no batch system does.
Words unbound_ranks(const std::string& mpi, int ranks, const Environment& environment);
// The words before those of a program that is started as it is. `threads`: how many each rank will use, if it is known.
Words bound_ranks(const std::string& mpi, int ranks, std::optional<int> threads, const Environment& environment);

// A launcher gives its ranks Marline's runtime, but not libmarline-mpi: they would block in MPI, and may hang. The
// line names what works with the user's own words, where they are as simple as `-n 2 ./app`. `command`: ours.
void refuse_rank_starter(const std::string& command, const std::string& program, const Words& arguments);

}  // namespace marline::launch

#endif
