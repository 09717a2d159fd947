// SPDX-License-Identifier: Apache-2.0
//
// What a program on Marline is given: the layer for its MPI, its environment, and the command line of each rank.
#ifndef MARLINE_LAUNCH_START_SERVED_HPP
#define MARLINE_LAUNCH_START_SERVED_HPP

#include <string>
#include <vector>

#include "base/environment.hpp"
#include "base/layout.hpp"
#include "program/preflight.hpp"
#include "start/options.hpp"

namespace marline::launch {

// The implementation to serve: the one that the program is linked with, else the one asked for, else that of the
// launcher which has started this process.
std::string which_mpi(const Options& options, const Program& program, const Environment& environment);
// LD_PRELOAD with `libraries` after what the caller preloads: a tool that wraps MPI expects to be the first to see its
// calls.
std::string preloads(const Words& libraries, const Environment& environment);
// The variables that `run` sets for the program.
std::vector<Variable> marline_environment(const Options& options, const Layout& layout, const Program& program,
                                          const Environment& environment);
// The variables that tell the recorder where to write, and NVTX's headers where the recorder is. Makes the folder.
std::vector<Variable> recording_in(const std::string& folder, const std::string& recorder,
                                   const Environment& environment);
// The command line that a launcher starts for each rank: `marline run` without -n.
Words of_one_rank(const Options& options, const Layout& layout, const Environment& environment);
// The program's name and its arguments.
Words words_of_program(const Options& options);
// The words that set variables by env(1), which every launcher can start.
Words setting(const std::vector<Variable>& variables);

}  // namespace marline::launch

#endif
