// SPDX-License-Identifier: Apache-2.0
//
// A job without MPI: one process runs the program, the others are its devices (docs/guide/nodes.md). All of them are
// started here, on this machine, and told of each other by variables (offload/wire/base/job.hpp).
#ifndef MARLINE_LAUNCH_START_JOB_HPP
#define MARLINE_LAUNCH_START_JOB_HPP

#include <string>

#include "base/environment.hpp"

namespace marline::launch {

// Whether this process belongs to a job, by its launcher's variables, and which one it is.
bool is_member_of_job(const Environment& environment);
std::string number_in_job(const Environment& environment);

// Runs the command `count` times, as a job. Returns the wait status of number 0, which has the standard input, or if it
// has not failed that of the first other one that has. Signals: as run_child.
// `last_words`: seconds in which the others end by themselves when one process has ended.
int run_job(const Words& words, int count, Environment environment, double last_words = 5);

}  // namespace marline::launch

#endif
