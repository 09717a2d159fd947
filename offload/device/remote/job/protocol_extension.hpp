// SPDX-License-Identifier: Apache-2.0
//
// Frames on the wires of a job that are not about one device of one worker: a cluster's (device/cluster), between any
// two processes. Both sides of devices on nodes pass them on.
#pragma once

#include "device/remote/job/frames.hpp"

namespace marline::offload::device {

using namespace wire;

// As WireUser's functions of these names.
struct GuestFrames {
  void* (*place)(int peer, const Frame& frame, const uint64_t* words);
  void (*deliver)(int peer, const Frame& frame, const uint64_t* words);
  // The peer has gone: writes what it had to do, for the line about that. Null: nothing is known.
  void (*tell_lost)(int peer, char* to, size_t bytes);
  // A worker's first thread looks around, while kernels take long: each millisecond if the call before has returned
  // true; else each tenth of a second, and soon after look_soon(). Null: nothing is to be done.
  bool (*look)();
  // In the program, behind each look at the wire. Null: likewise.
  void (*polled)();
};

// Before this process joins a job.
void take_guest_frames(const GuestFrames& guest);

// In both sides' WireUser. Ends the process for frames that nobody takes.
void* place_guest(int peer, const Frame& frame, const uint64_t* words);
void deliver_guest(int peer, const Frame& frame, const uint64_t* words);
[[nodiscard]] bool look_guest();
void tell_guest_polled();
// In a worker, by any thread of it: its first thread need not wait any longer.
void look_soon();
// "" where nothing is known.
void tell_lost_guest(int peer, char* to, size_t bytes);

[[nodiscard]] inline bool is_guest(const Frame& frame) { return frame.kind >= kFirstGuest; }

}  // namespace marline::offload::device
