// SPDX-License-Identifier: Apache-2.0
//
// Which job this process belongs to, by the environment. At the start, by one thread. A value that is none ends the
// process with one line.
//
// A launcher of the wire `local` sets, for each process, four variables. They are no options, as they mean nothing to a
// user who starts a program by hand:
//
//     MARLINE_JOB          the job's secret, 32 hexadecimal digits; other users cannot read a process's environment
//     MARLINE_JOB_NUMBER   of this process, from 0 on
//     MARLINE_JOB_COUNT    of all processes
//     MARLINE_JOB_ADDRESS  where they meet: unix:@NAME or tcp:HOST:PORT, with the host of process 0
//
// All or none are set. A user sets MARLINE_WIRE, MARLINE_NODES_AS and MARLINE_LINK (base/options.cpp).
#pragma once

#include "wire/base/wire.hpp"

namespace marline::offload::wire {

enum class WireChoice : uint8_t { kAuto, kLocal, kMpi };
[[nodiscard]] WireChoice chosen_wire();

// False: no launcher has set the variables, and of `job` only `nodes` is filled in. What it points to stays.
[[nodiscard]] bool read_job(Job& job);

}  // namespace marline::offload::wire
