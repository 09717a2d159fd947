// SPDX-License-Identifier: Apache-2.0
//
// Which job this process belongs to, by the environment. The launcher (`marline run`) sets
//
//   MARLINE_JOB          32 hexadecimal digits that only processes of the job know
//   MARLINE_JOB_NUMBER   this process's, from 0 on
//   MARLINE_JOB_COUNT    how many there are
//   MARLINE_JOB_ADDRESS  where process 0 is met: unix:@NAME or tcp:HOST:PORT
//
// and for processes that an MPI launcher or Slurm has started, those have variables of their own. MARLINE_WIRE and
// MARLINE_NODES_AS are the user's. A variable that cannot be read ends the process with a line. Any thread.
#pragma once

#include "wire/wire.hpp"

namespace marline::target {

enum class JobKind { kNone, kLocal, kMpi };

struct JobWords {
  JobKind kind;
  Job job;
};

// Read once. kNone also in programs that a process of a job has started.
[[nodiscard]] const JobWords& job_words();

// This process has joined: programs that it starts do not find the job.
void take_job_words_away();

}  // namespace marline::target
