// SPDX-License-Identifier: Apache-2.0
//
// Starts a program on its own OpenMP runtime with the recorder preloaded, for comparison with Marline. Nothing of
// Marline's runtime enters the process, and nothing is proved: what ran stands in the trace's description.
#ifndef MARLINE_LAUNCH_START_NATIVE_HPP
#define MARLINE_LAUNCH_START_NATIVE_HPP

#include "base/environment.hpp"
#include "base/layout.hpp"
#include "start/options.hpp"

namespace marline::launch {

// Runs the program as the options say and returns its wait status.
int run_native(Options& options, const Layout& layout, const Environment& environment);

}  // namespace marline::launch

#endif
