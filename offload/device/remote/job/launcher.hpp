// SPDX-License-Identifier: Apache-2.0
//
// The process beside a rank that starts workers for all ranks (ranks.hpp): a fork of the rank from before main, which
// has one thread and runs no `main`. It sleeps until a rank connects, and ends with its own rank. The workers that it
// has started go on: each ends with the rank that it serves.
#pragma once

#include "wire/base/wire.hpp"

#include <cstdint>

namespace marline::offload::device {

using namespace wire;

// From the rank, through the pair of sockets between the two, with its listeners: one of the machine, and one by TCP if
// the job is on several machines.
struct AgentOrders {
  uint64_t secret[2];  // of all ranks
  int number, count;   // of the rank, and of all
  int listeners;
};

// From a rank that has proved to know the secret; answered by an errno, 0: the worker is on its way to the address.
struct WorkerRequest {
  char address[128];  // as Job::address
};

// What the processes of the job know in which the devices of `rank` are: each rank has a job of its own, in which it is
// process 0 and its device k is process k + 1. Its secret follows from the ranks' one.
void make_rank_job(const uint64_t secret[2], int rank, int count, const char* address, Job& job);

// In the fork. `socket`: its end; the only descriptor beside the standard ones.
// `serve` is what a worker does; it does not return.
[[noreturn]] void run_agent(int socket, void (*serve)());

}  // namespace marline::offload::device
