// SPDX-License-Identifier: Apache-2.0
//
// How `marline ps` finds the processes of a job. The report of each has a part "nodes": the program's names all
// workers, a worker's names the program. Within a machine the number of the process is enough. If the job has several
// machines, each process opens a port (marline_describe_relay), and the program and the workers tell each other theirs
// by kDoor.
#pragma once

#include "wire/base/wire.hpp"

namespace marline::offload::device {

using namespace wire;

// Once, when this process has joined the job by this wire. `frame_kind`: kDoor, of the frames that send_door makes.
void open_door(const WireKind* kind, Wire* wire, uint16_t frame_kind);

// Sends this process's door to a peer; nothing if it has none.
void send_door(const WireKind* kind, Wire* wire, int peer);

// A frame of kind kDoor. False: it is none that open_door makes.
[[nodiscard]] bool take_door(int peer, const Frame& frame, const uint64_t* words);

}  // namespace marline::offload::device
