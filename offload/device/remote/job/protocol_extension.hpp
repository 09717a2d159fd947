// SPDX-License-Identifier: Apache-2.0
//
// Passes on frames that are not about one device of one worker: the frames of a cluster (device/cluster), which any two
// processes of the job may send each other. They use the wire of the devices on nodes, so both sides of these devices,
// program and worker, call these functions.
#pragma once

#include "device/remote/job/frames.hpp"

namespace marline::offload::device {

using namespace wire;

// What handles these frames. `place` and `deliver` are as WireUser's functions.
struct ExtensionFrames {
  void* (*place)(int peer, const Frame& frame, const uint64_t* words);
  void (*deliver)(int peer, const Frame& frame, const uint64_t* words);
  // Called when a peer has gone: writes what work it had, for the message about its end. Null: nothing is known.
  void (*report_lost)(int peer, char* to, size_t bytes);
  // Called by a worker's first thread while kernels take long: every millisecond if the last call has returned true;
  // else every tenth of a second, and soon after look_soon(). Null: there is nothing to do.
  bool (*look)();
  // Called in the program after each poll of the wire. Null: there is nothing to do.
  void (*polled)();
};

// Sets these functions. Called before this process joins a job.
void take_extension_frames(const ExtensionFrames& extension);

// The first two are called by the WireUser of both sides; they end the process if no functions are set.
void* place_newcomer(int peer, const Frame& frame, const uint64_t* words);
void deliver_extension(int peer, const Frame& frame, const uint64_t* words);
[[nodiscard]] bool look_newcomer();
void report_extension_polled();
// Called in a worker by any of its threads: ends the first thread's wait, so that it looks for work.
void look_soon();
// Writes "" if nothing is known.
void report_lost_extension(int peer, char* to, size_t bytes);

[[nodiscard]] inline bool is_extension(const Frame& frame) { return frame.kind >= kFirstExtension; }

}  // namespace marline::offload::device
