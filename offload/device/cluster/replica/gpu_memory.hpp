// SPDX-License-Identifier: Apache-2.0
//
// The memory of the GPU that runs a node's tasks, as the node's copies of buffers use it. All of it ends the process if
// it cannot be done.
#pragma once

#include "cluster/base/list.hpp"
#include "device/contract/byte_runs.hpp"

#include <cstdint>

namespace marline::offload::device {

using namespace cluster;

struct GpuMemory {
  // By a task, which may be suspended. A run lies at its offset from both addresses.
  void (*write)(uint64_t to, const char* from, const List<ByteRun>& runs);
  void (*clear)(uint64_t to, const List<ByteRun>& runs);  // all bytes are 0
  void (*read)(char* to, uint64_t from, const List<ByteRun>& runs);
  // Holds the thread. Any thread, with locks.
  void (*read_now)(char* to, uint64_t from, uint64_t bytes);
  // What is found is told by blocks of so many bytes.
  static constexpr uint64_t kBlock = 256;
  // Which blocks there have an aligned word in [begin, end); the address is aligned. By a task. False: the
  // GPU cannot say it.
  bool (*find_words)(uint64_t at, uint64_t bytes, uint64_t begin, uint64_t end, List<uint64_t>& blocks);
  // Likewise, which of them are not as they were when the kernel that has run last began. False also where nobody has
  // asked to remember that.
  bool (*find_changes)(uint64_t at, uint64_t bytes, List<uint64_t>& blocks);
};

}  // namespace marline::offload::device
