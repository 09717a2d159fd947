// SPDX-License-Identifier: Apache-2.0
//
// Lets `marline ps` find the processes of a job. The report of each process has a part "nodes": in the program it names
// all workers, in a worker it names the program. On one machine, the process's pid is enough to find it. If the job has
// several machines, each process opens a port (marline_describe_relay), and the program and the workers send each other
// their ports by kInspectionPort.
#pragma once

#include "wire/base/wire.hpp"

namespace marline::offload::device {

using namespace wire;

// Called once, when this process has joined the job by this wire. `frame_kind`: kInspectionPort, for the frames that
// send_inspection_port sends.
void open_inspection_port(const WireKind* kind, Wire* wire, uint16_t frame_kind);

// Sends this process's port to a peer; sends nothing if this process has no port.
void send_inspection_port(const WireKind* kind, Wire* wire, int peer);

// Takes a frame of kind kInspectionPort. False: it is no frame that send_inspection_port sends.
[[nodiscard]] bool take_inspection_port(int peer, const Frame& frame, const uint64_t* words);

}  // namespace marline::offload::device
