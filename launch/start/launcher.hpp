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

// The path of the launcher that starts ranks of this MPI. Refusal if there is none.
std::string require_launcher(const std::string& mpi, const Environment& environment);
// The first launcher in PATH that belongs to this MPI. If there is none: the first that does not say which MPI it
// belongs to, such as a site's script.
std::optional<std::string> find_launcher(const std::string& mpi, const Environment& environment);
// The version that the launcher prints. Nothing if it does not belong to this MPI.
std::optional<std::string> version_of_launcher(const std::string& path, const std::string& mpi,
                                               const Environment& environment);

// The beginning of a command line that starts ranks: the launcher and its options. The command to start follows. This
// one is for `marline run` as the command: the launcher is told not to bind, because each `marline run` binds its rank
// (place/). Under a batch system the launcher's own binding stays.
Words unbound_ranks(const std::string& mpi, int ranks, const Environment& environment);
// This one is for the program itself as the command: the launcher binds each rank to as many cores as it has threads.
// `threads`: of each rank, if known.
Words bound_ranks(const std::string& mpi, int ranks, std::optional<int> threads, const Environment& environment);

// Refuses a launcher as the program. Its ranks would have Marline's runtime, but not libmarline-mpi: they would block
// in MPI, and might hang. The message shows a command line that works. It has the user's own words if these are as
// simple as `-n 2 ./app`. `command`: of ours, "marline run" for example.
void refuse_rank_starter(const std::string& command, const std::string& program, const Words& arguments);

}  // namespace marline::launch

#endif
