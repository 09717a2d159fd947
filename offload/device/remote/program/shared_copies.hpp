// SPDX-License-Identifier: Apache-2.0
//
// Makes large copies to devices on nodes, in parts. Copies of the same bytes share the way (fan_out.hpp).
#pragma once

#include "device/contract/device.hpp"
#include "wire/base/wire.hpp"

#include <cstddef>
#include <cstdint>

namespace marline::offload::device {

using namespace wire;

// Smaller copies go as one frame.
inline constexpr size_t kSharedCopy = 512 << 10;

// A place says where bytes are: 0, in the program; or 1 + the number of a device among the devices of all workers.
inline constexpr int kProgramPlace = 0;

// How the program reaches the devices (copies.cpp). Constant. Only `confirm` may suspend.
struct CopyWay {
  int (*node_of)(int place);  // the same number for all places of one node
  bool (*is_gpu)(int place);
  bool (*has_one_device)();  // whether the job has only one
  // `write` sends bytes of the program; `outgoing` and the result are as for WireKind::send. `forward` makes the worker
  // of `from_place` send bytes that it has got to another place. `operation` ends when the bytes have arrived; for
  // `write` it may be null. The progress hook counts `operation`, and `outgoing`.
  bool (*write)(int to_place, uint64_t to, const void* from, size_t bytes, Outgoing* outgoing, Operation* operation);
  void (*forward)(int to_place, uint64_t to, int from_place, uint64_t from, size_t bytes, Operation* operation);
  // When it returns, all that was sent to the worker has arrived, so that another worker's data cannot overtake it.
  void (*confirm)(int place);
  // Called from a poll when bytes that `write` has sent have left the program's memory.
  void (*note_ended)();
};

// Copies `bytes` > 0 bytes from an address at one place to an address of a device at another place; done at the return.
// `waits_for`, `what`: the device and the reason that are shown while the caller waits. May suspend.
void copy_shared(const CopyWay& way, int to_place, uint64_t to, int from_place, uint64_t from, size_t bytes,
                 Device* waits_for, const char* what);

// Handles the parts that the wire has copied at once. Called from a poll; returns how many operations have ended.
[[nodiscard]] int end_copied_parts();

}  // namespace marline::offload::device
