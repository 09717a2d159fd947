// SPDX-License-Identifier: Apache-2.0
//
// The result of a run of the cluster's simulator.
#pragma once

#include "cluster/dataflow/head.hpp"

#include <string>

namespace marline::offload::cluster::simulation {

struct Result {
  std::string error;  // the error; empty: none
  uint64_t tasks = 0, messages = 0, bytes = 0;
  uint64_t spared = 0;  // bytes that were requested but not sent, as they had been sent before
  Head::Counts counts;
  Graphs::Counts graphs;
};

}  // namespace marline::offload::cluster::simulation
