// SPDX-License-Identifier: Apache-2.0
//
// Making a CapturedTask: one block of memory with copies of what it names. Any thread.
#pragma once

#include "device/contract/capture.hpp"

namespace marline::offload::submission {

using namespace device;
using namespace items;

// Frames of functions that will have returned when the task is looked at.
struct Frames {
  uintptr_t begin = 0, end = 0;

  [[nodiscard]] bool have(const void* address) const {
    auto at = reinterpret_cast<uintptr_t>(address);
    return at >= begin && at < end;
  }
};

// What the compiler has made of the construct: the task's entry, or the region's function.
[[nodiscard]] inline const void* entry_of(const marline_target_task_t& told) {
  return told.form == MARLINE_TARGET_ENTRY ? reinterpret_cast<const void*>(told.entry)
                                           : reinterpret_cast<const void*>(told.function);
}

// The construct itself is the caller's to fill in. Null: some item cannot be known now. It has a mapper, which is code
// of the program that reads memory; or it is not contiguous, and has its dimensions in memory of the creating function;
// or it is mapped memory in one of these frames.
[[nodiscard]] CapturedTask* make_captured(const marline_target_task_t& told, const Items& items, const Frames& frames);

// Of GCC's code, which passes everything along. Null: as above, or the region is for the host.
[[nodiscard]] CapturedTask* capture_maps(const marline_target_task_t& told);

}  // namespace marline::offload::submission
