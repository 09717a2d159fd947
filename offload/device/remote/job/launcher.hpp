// SPDX-License-Identifier: Apache-2.0
//
// The worker launcher: a process next to each rank that starts workers for all ranks (ranks.hpp). It is a fork
// of the rank from before main, has one thread and runs no `main`. It sleeps until a rank connects, and ends with its
// own rank. The workers that it has started go on: each ends with the rank that it serves.
#pragma once

#include "wire/base/wire.hpp"

#include <cstdint>

namespace marline::offload::device {

using namespace wire;

// What the rank sends to its launcher through their pair of sockets. Its listening sockets follow: one for this
// machine, and one for TCP if the job is on several machines.
struct LauncherOrders {
  uint64_t secret[2];  // known to all ranks
  int number, count;   // the rank's number, and how many ranks there are
  int listeners;       // how many listening sockets follow
};

// The request of a rank that has proved that it knows the secret. The answer is an errno; 0: the worker is started, and
// connects to the address.
struct WorkerRequest {
  char address[128];  // in the syntax of Job::address
};

// Makes what the processes of the job of `rank` know about it. Each rank has a job of its own, in which it is process 0
// and its device k is process k + 1. The job's secret is calculated from the secret of all ranks.
void make_rank_job(const uint64_t secret[2], int rank, int count, const char* address, Job& job);

// Called in the fork. `socket`: the launcher's end of the pair, its only descriptor besides the standard ones. `serve`:
// what a worker does; it does not return.
[[noreturn]] void run_launcher(int socket, void (*serve)());

}  // namespace marline::offload::device
