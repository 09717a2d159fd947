// SPDX-License-Identifier: Apache-2.0
//
// Makes the ranks of an MPI program each other's devices: `nodes` in MARLINE_DEVICES of a program that is linked with
// MPI. Every rank runs `main`, and its device k is a worker on the node of rank k, its own node included. A worker
// serves one rank, so each rank and its devices are a job of their own on the wire `local`, which MPI does not see.
// When a rank first uses its devices, the launchers of all ranks (launcher.hpp) start workers for it. The ranks
// exchange the addresses of their launchers in MPI_Init. With r ranks there are r launchers, and at most r * r workers,
// if all ranks use devices. r is at most kMostPeers - 1; more ranks are refused with a message.
#pragma once

#include "marline/devices.h"
#include "wire/base/wire.hpp"

namespace marline::offload::device {

using namespace wire;

// Called before main in such a rank: forks the launcher. Its workers call `serve`.
void start_launcher(void (*serve)());

// Is `meet` of marline_device_provider_t: exchanges the launchers' addresses. Does nothing in processes that are no
// such ranks.
void meet_ranks(const marline_ranks_t* ranks);

// Starts the workers of this rank, and fills in this rank's part in their job. Ends the process if that fails. Called
// once, under the lock under which devices are started.
void call_workers(Job& job);

// The name of the rank's node, for uids; "": the ranks have not met yet.
[[nodiscard]] const char* node_of_rank(int rank);

}  // namespace marline::offload::device
