// SPDX-License-Identifier: Apache-2.0
//
// A job without MPI: process number 0 runs the program, the others are its devices (docs/guide/nodes.md). All of them
// are started here, on this machine. Variables tell them how to reach each other (offload/wire/base/job.hpp).
#ifndef MARLINE_LAUNCH_START_JOB_HPP
#define MARLINE_LAUNCH_START_JOB_HPP

#include <string>

#include "base/environment.hpp"

namespace marline::launch {

// Whether the variables say that this process belongs to such a job, and its number.
bool is_member_of_job(const Environment& environment);
std::string number_in_job(const Environment& environment);

// Runs the command `count` times, as a job. Number 0 has the standard input and gets the signals that this process
// gets. Returns the wait status of number 0 if it failed, else that of the first other process that failed.
// `last_words`: seconds that the others have to end when number 0 has ended, or any has failed.
int run_job(const Words& words, int count, Environment environment, double last_words = 5);

}  // namespace marline::launch

#endif
