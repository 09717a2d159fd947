// SPDX-License-Identifier: Apache-2.0
//
// Makes a CapturedTask: one block of memory with copies of the task's map items and dependences. Any thread.
#pragma once

#include "device/contract/capture.hpp"

namespace marline::offload::submission {

using namespace device;
using namespace items;

// The stack frames of functions that will have returned when the captured task is used.
struct Frames {
  uintptr_t begin = 0, end = 0;

  [[nodiscard]] bool have(const void* address) const {
    auto at = reinterpret_cast<uintptr_t>(address);
    return at >= begin && at < end;
  }
};

// The function that the compiler generated for the construct: the task's entry (Clang), or the region's function (GCC).
[[nodiscard]] inline const void* entry_of(const marline_target_task_t& reported) {
  return reported.form == MARLINE_TARGET_ENTRY ? reinterpret_cast<const void*>(reported.entry)
                                               : reinterpret_cast<const void*>(reported.function);
}

// Captures the items of a task; the caller fills in what describes the construct itself. Null: an item may change
// before the task runs. It has a mapper, which is code of the program that reads memory; or it is not contiguous, and
// its dimensions lie in memory of the creating function; or it is mapped memory in `frames`.
[[nodiscard]] CapturedTask* make_captured(const marline_target_task_t& reported, const Items& items,
                                          const Frames& frames);

// Captures a task of GCC's code, which passes its map items to the runtime when it creates the task. Null: as
// make_captured, or the region runs on the host.
[[nodiscard]] CapturedTask* capture_maps(const marline_target_task_t& reported);

}  // namespace marline::offload::submission
