// SPDX-License-Identifier: Apache-2.0
//
// Reads from the environment which job this process belongs to. One thread calls this, at the start. An invalid value
// ends the process with one line.
//
// A launcher of the wire `local` sets four variables for each process. They are not options, because they mean nothing
// to a user who starts a program by hand:
//
//     MARLINE_JOB          the job's secret, 32 hexadecimal digits; other users cannot read a process's environment
//     MARLINE_JOB_NUMBER   the number of this process, from 0 on
//     MARLINE_JOB_COUNT    the number of all processes
//     MARLINE_JOB_ADDRESS  where the processes meet: unix:@NAME or tcp:HOST:PORT, with the host of process 0
//
// Either all four are set or none. Users set the options MARLINE_WIRE, MARLINE_NODES_AS and MARLINE_LINK
// (base/options.cpp).
#pragma once

#include "wire/base/wire.hpp"

namespace marline::offload::wire {

enum class WireChoice : uint8_t { kAuto, kLocal, kMpi };
[[nodiscard]] WireChoice chosen_wire();

// Returns false if no launcher has set the variables; then only `nodes` of `job` is filled in. The storage that `job`
// points to is never freed.
[[nodiscard]] bool read_job(Job& job);

}  // namespace marline::offload::wire
