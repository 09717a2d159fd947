// SPDX-License-Identifier: Apache-2.0
//
// The cluster's core on a made-up machine: nodes with memories of symbolic bytes, channels that keep the order of their
// own messages only, and tasks that take some time. Everything random comes from the seed.
#pragma once

#include "program.hpp"
#include "result.hpp"

namespace marline::offload::cluster::simulation {

// Runs the program of that seed, cut to `most` constructs, on a machine of that seed.
Result simulate(unsigned seed, int most = 1 << 20);

// The smallest number of constructs with which the seed still fails.
int shrink(unsigned seed);

}  // namespace marline::offload::cluster::simulation
