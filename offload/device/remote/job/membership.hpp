// SPDX-License-Identifier: Apache-2.0
//
// Which job this process belongs to, and what it is there. Known before main and constant from then on, except in the
// fork of a rank that becomes a worker. Any thread.
#pragma once

#include "wire/base/wire.hpp"

#include <cstdint>

namespace marline::offload::device {

using namespace wire;

// kRanks: this process is a rank of an MPI program in which the ranks are each other's devices (ranks.hpp); `job` has
// the rank's number and the number of ranks.
enum class JobKind : uint8_t { kNone, kLocal, kMpi, kRanks };

struct Membership {
  JobKind kind;
  Job job;
};

[[nodiscard]] Membership& membership();

// Whether a process of a job has started this program. If so, this program has no workers.
[[nodiscard]] bool is_started_by_a_job();

[[nodiscard]] bool is_serving_rank();
[[nodiscard]] int number_of_rank();
[[nodiscard]] int count_of_ranks();

// From now on, programs that this process starts are no part of the job.
void take_membership();

// Called in the fork of a rank by its only thread: from now on this process is a worker of `rank`, in the job of
// `rank`.
void become_worker_of(int rank, const Job& job);

// Words for a process of the job in messages: "process 1 of the job", or "beside rank 0 for rank 2," for a worker of a
// rank. They are valid until the next call. Two threads must not call it at the same time.
[[nodiscard]] const char* words_for_process(int peer);

}  // namespace marline::offload::device
