// SPDX-License-Identifier: Apache-2.0
//
// `marline run`: starts a program with Marline as its OpenMP runtime and proves that it was, or refuses with a reason.
// Three checks: program/preflight.cpp before the start; runtime/platform/identity.cpp in the process, at its start and
// at its end; and here, afterwards, that the process left its proof. With -n, the launcher starts one `marline run` per
// rank.
#ifndef MARLINE_LAUNCH_START_RUN_HPP
#define MARLINE_LAUNCH_START_RUN_HPP

#include "base/layout.hpp"
#include "start/options.hpp"

namespace marline::launch {

// Runs the program as the options say and returns its wait status.
int run(Options options, const Layout& layout);

}  // namespace marline::launch

#endif
