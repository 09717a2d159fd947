// SPDX-License-Identifier: Apache-2.0
//
// What the library is told that sees target tasks as they are created (devices.h), besides the tasks themselves. While
// there is none, each costs one load and one branch.
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
// While there is an observer:
void tell_ready(void* claimed_by);
void tell_raise(uint64_t number, int32_t priority);
void tell_iterates(uint64_t graph, bool is_behind);
void tell_iterated(uint64_t graph);
void tell_graph_ends(uint64_t graph);
void tell_awaited(uint64_t number);

}  // namespace marline::tool
