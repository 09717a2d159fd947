// SPDX-License-Identifier: Apache-2.0
//
// The functions by which a node's replicas of buffers access the memory of the GPU that runs the node's tasks. Each
// function ends the process if it fails, unless it says otherwise.
#pragma once

#include "base/list.hpp"
#include "device/contract/byte_runs.hpp"

#include <cstdint>

namespace marline::offload::device {

using namespace cluster;

struct GpuMemory {
  // Copy or clear the bytes of the runs. Called by a task, which may be suspended. A run lies at the same offset from
  // both addresses.
  void (*write)(uint64_t to, const char* from, const List<ByteRun>& runs);
  void (*clear)(uint64_t to, const List<ByteRun>& runs);  // sets all bytes to 0
  void (*read)(char* to, uint64_t from, const List<ByteRun>& runs);
  // Blocks the thread until the bytes are there. Any thread may call it, also with locks held.
  void (*read_now)(char* to, uint64_t from, uint64_t bytes);
  // The two functions below report what they find as numbers of blocks of this size.
  static constexpr uint64_t kBlock = 256;
  // Finds the blocks that contain an aligned word with a value in [begin, end). `at` must be aligned. Called by a task.
  // Returns false if the GPU cannot search.
  bool (*find_words)(uint64_t at, uint64_t bytes, uint64_t begin, uint64_t end, List<uint64_t>& blocks);
  // Finds the blocks that have changed since the last kernel began, under the same conditions as find_words. Also
  // returns false if no copy of these bytes was made before that kernel.
  bool (*find_changes)(uint64_t at, uint64_t bytes, List<uint64_t>& blocks);
};

}  // namespace marline::offload::device
