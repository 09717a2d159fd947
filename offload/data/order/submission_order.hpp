// SPDX-License-Identifier: Apache-2.0
//
// A construct that is handed over to a device before those that it stands behind have ended
// (submission/queue/submitted_tasks.cpp), as the data environment sees it. One thread at a time hands over, in one of
// the orders of creation, and the environment counts in that order: what comes behind a construct finds what it leaves,
// though nothing may have been copied yet.
#pragma once

#include "device/contract/unordered.hpp"

#include <cstddef>
#include <cstdint>

namespace marline::offload::data {

using namespace device;

struct Sent {
  uint64_t task;  // its number
  // Whether the construct comes behind that task, or the task has ended. Called with the environment's lock.
  bool (*is_behind)(const void* of, uint64_t task);
  const void* of;
  // The construct also has to come behind that operation of the device.
  void (*also_behind)(const void* of, uint64_t operation);
};

// What a construct does with data of a task that it is not ordered behind.
struct Unordered {
  UnorderedUse use;
  uint64_t task;
  uintptr_t begin;  // of the data, on the host
  size_t bytes;
};

}  // namespace marline::offload::data
