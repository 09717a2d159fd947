// SPDX-License-Identifier: Apache-2.0
//
// Which job this process belongs to, and as what. Known before main, and constant then, but in the fork of a rank that
// becomes a worker. Any thread.
#pragma once

#include "wire/base/wire.hpp"

#include <cstdint>

namespace marline::offload::device {

using namespace wire;

// kRanks: a rank of an MPI program whose ranks are each other's devices (ranks.hpp); `job` has its number and their
// count.
enum class JobKind : uint8_t { kNone, kLocal, kMpi, kRanks };

struct Membership {
  JobKind kind;
  Job job;
};

[[nodiscard]] Membership& membership();

// Whether a process of a job has started this program, which has no workers then.
[[nodiscard]] bool is_started_by_a_job();

[[nodiscard]] bool is_serving_rank();
[[nodiscard]] int number_of_rank();
[[nodiscard]] int count_of_ranks();

// Programs that this process starts are no part of the job.
void take_membership();

// In a fork of the rank, by its only thread: it is a worker of `rank` in that one's job from now on.
void become_worker_of(int rank, const Job& job);

// Where a worker is, in the lines of the program and of the worker itself: "process 1 of the job", or else "beside rank
// 0 for rank 2,". Valid until the next call; called where the process ends.
[[nodiscard]] const char* words_for_process(int peer);

}  // namespace marline::offload::device
