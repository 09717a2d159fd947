// SPDX-License-Identifier: Apache-2.0
//
// What a run of the cluster's simulator comes to.
#pragma once

#include "cluster/dataflow/head.hpp"

#include <string>

namespace marline::offload::cluster::simulation {

struct Result {
  std::string error;  // what was wrong; empty: nothing
  uint64_t tasks = 0, messages = 0, bytes = 0;
  uint64_t spared = 0;  // bytes that were asked for and had been sent before
  Head::Counts counts;
  Graphs::Counts graphs;
};

}  // namespace marline::offload::cluster::simulation
