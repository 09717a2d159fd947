// SPDX-License-Identifier: Apache-2.0
//
// `marline run --print`: the command lines by which a launcher, or a shell, starts the program as `marline run` would,
// but without its proof.
#ifndef MARLINE_LAUNCH_START_PRINTED_HPP
#define MARLINE_LAUNCH_START_PRINTED_HPP

#include "base/environment.hpp"
#include "base/layout.hpp"
#include "program/preflight.hpp"
#include "start/options.hpp"

namespace marline::launch {

// Returns the wait status of exit(0).
int print_start(Options& options, const Layout& layout, const Program& program, const Environment& environment,
                const Environment& of_caller);

}  // namespace marline::launch

#endif
