// SPDX-License-Identifier: Apache-2.0
//
// Reports to the library that is notified of target tasks as they are created (devices.h); the tasks themselves are
// reported elsewhere. Without such a library, each report costs one load and one branch.
#pragma once

#include "marline/devices.h"
#include "tool/tool.hpp"

namespace marline::tool {

// The current task begins to wait.
void report_wait_slowly(marline_wait_kind_t kind);
inline void report_wait(marline_wait_kind_t kind) {
  if (on(event::kTargetTasks)) [[unlikely]] {
    report_wait_slowly(kind);
  }
}

void report_cancellation();
// Call these only while there is an observer:
void report_ready(void* claimed_by);
void report_raise(uint64_t number, int32_t priority);
void report_iterates(uint64_t graph, bool has_barrier);
void report_iterated(uint64_t graph);
void report_graph_ends(uint64_t graph);
void report_awaited(uint64_t number);

}  // namespace marline::tool
