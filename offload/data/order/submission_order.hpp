// SPDX-License-Identifier: Apache-2.0
//
// An early-submitted construct, as the data environment sees it: it is submitted to a device before its predecessors
// have ended (submission/queue/submission.cpp). One thread at a time submits, in an order of creation, and the
// environment counts references in that order: a successor sees the map entries that its predecessors leave, even if
// their copies have not started.
#pragma once

#include <cstdint>

namespace marline::offload::data {

struct SubmissionOrder {
  uint64_t task;  // number of the construct's task
  // Whether the construct is ordered after that task, or the task has ended. Called with the lock of the environment.
  bool (*is_ordered_after)(const void* of, uint64_t task);
  const void* of;
  // Orders the construct after that operation of the device, too.
  void (*also_after)(const void* of, uint64_t operation);

  [[nodiscard]] bool is_after(uint64_t other) const { return is_ordered_after(of, other); }
};

}  // namespace marline::offload::data
