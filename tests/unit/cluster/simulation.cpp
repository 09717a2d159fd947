// SPDX-License-Identifier: Apache-2.0
//
// Runs simulations, and shrinks the ones that fail.
#include "simulation.hpp"

#include "machine.hpp"

namespace marline::offload::cluster::simulation {

Result simulate(unsigned seed, int most) { return Machine(seed, most).run(); }

int shrink(unsigned seed) {
  int count = static_cast<int>(make_program(seed, 1 << 20).constructs.size());
  for (int most = 1; most < count; ++most) {
    if (!simulate(seed, most).error.empty()) return most;
  }
  return count;
}

}  // namespace marline::offload::cluster::simulation
