// SPDX-License-Identifier: Apache-2.0
//
// Reports to the library that is notified of target tasks as they are created (devices.h); the tasks themselves are
// reported elsewhere. Without such a library, each report costs one load and one branch.
#pragma once

#include "marline/devices.h"
#include "tool/tool.hpp"

namespace marline::tool {

// The current task begins to wait.
void tell_wait_slowly(marline_wait_kind_t kind);
inline void tell_wait(marline_wait_kind_t kind) {
  if (on(event::kTargetTasks)) [[unlikely]] {
    tell_wait_slowly(kind);
  }
}

void tell_cancellation();
// Call these only while there is an observer:
void tell_ready(void* claimed_by);
void tell_raise(uint64_t number, int32_t priority);
void tell_iterates(uint64_t graph, bool is_behind);
void tell_iterated(uint64_t graph);
void tell_graph_ends(uint64_t graph);
void tell_awaited(uint64_t number);

}  // namespace marline::tool
