// SPDX-License-Identifier: Apache-2.0
//
// Large copies to devices on nodes, which go on in parts; those of the same bytes share the way (fan_out.hpp).
#pragma once

#include "device/contract/device.hpp"
#include "wire/base/wire.hpp"

#include <cstddef>
#include <cstdint>

namespace marline::offload::device {

using namespace wire;

// Smaller copies go as one frame.
inline constexpr size_t kSharedCopy = 512 << 10;

// Where bytes are: 0, in the program; or 1 + a device's number among all of the job's workers.
inline constexpr int kProgramPlace = 0;

// How the program reaches the devices (copies.cpp). Constant. None of these suspends but `confirm`.
struct CopyWay {
  int (*node_of)(int place);  // the same number for those of one node
  bool (*is_gpu)(int place);
  bool (*has_one_device)();  // the job
  // Sends bytes of the program, as WireKind::send has it, or lets the worker of `from_place` send bytes that it has got
  // to another one: `operation`, which for the first may be null, ends when they are there. The progress hook counts
  // it, and `outgoing`.
  bool (*write)(int to_place, uint64_t to, const void* from, size_t bytes, Outgoing* outgoing, Operation* operation);
  void (*forward)(int to_place, uint64_t to, int from_place, uint64_t from, size_t bytes, Operation* operation);
  // What was sent to the worker has arrived at the return, so that another worker's data cannot overtake it.
  void (*confirm)(int place);
  // Of what `write` has sent something has gone, which is told from a poll.
  void (*note_ended)();
};

// Copies `bytes` > 0 bytes from an address at one place to one of a device's, at another; done at the return.
// `waits_for`: the device that is shown meanwhile, for `what`. May suspend.
void copy_shared(const CopyWay& way, int to_place, uint64_t to, int from_place, uint64_t from, size_t bytes,
                 Device* waits_for, const char* what);

// Goes on with what the wire had room for at once. From a poll; returns how many operations have ended.
[[nodiscard]] int end_copied_parts();

}  // namespace marline::offload::device
