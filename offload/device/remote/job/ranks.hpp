// SPDX-License-Identifier: Apache-2.0
//
// The ranks of an MPI program as each other's devices: `nodes` in MARLINE_DEVICES of a program that is linked with MPI.
// Every rank runs `main`, and its device k is a worker on the node of rank k, its own included. A worker serves one
// rank; so the devices of each rank are a job of their own on the wire `local`, which MPI does not see. Workers are
// started at the rank's first use of its devices, by the ranks' agents (launcher.hpp), whose addresses the ranks tell
// each other in MPI_Init. Processes: with r ranks, r agents, and at most r * r workers, if all ranks use devices; r is
// at most kMostPeers - 1, and more ranks are refused with a line.
#pragma once

#include "marline/devices.h"
#include "wire/base/wire.hpp"

namespace marline::offload::device {

using namespace wire;

// Before main, in such a rank: forks the agent, whose workers call `serve`.
void start_agent(void (*serve)());

// As marline_device_provider_t has it. Does nothing in other processes.
void meet_ranks(const marline_ranks_t* ranks);

// Starts the workers of this rank, and fills in its part in their job. Ends the process if that cannot be. Once, with
// the lock under which devices are started.
void call_workers(Job& job);

// For uids: the name of the node of that rank; "": the ranks have not met yet.
[[nodiscard]] const char* node_of_rank(int rank);

}  // namespace marline::offload::device
