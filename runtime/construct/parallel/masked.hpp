// SPDX-License-Identifier: Apache-2.0
//
// masked (OpenMP 5.2, section 10.5), for Clang's code; GCC's code compares thread numbers inline. Run by the thread
// that encounters the construct.
#pragma once

#include "sched/team.hpp"
#include "tool/tool.hpp"

namespace marline {

// Whether the calling thread runs the block. codeptr: for tools; by default the return address of the calling entry
// point.
[[nodiscard]] inline bool masked_enter(Worker* worker, int filter, const void* codeptr = __builtin_return_address(0)) {
  bool executes = worker->member->index == filter;
  if (executes && tool::on(tool::event::kMasked)) {
    tool::masked(tool::Endpoint::kBegin, &worker->member->team->tool_data, &worker->task->tool_data, codeptr);
  }
  return executes;
}

inline void masked_leave(Worker* worker, const void* codeptr = __builtin_return_address(0)) {
  if (!tool::on(tool::event::kMasked)) return;
  tool::masked(tool::Endpoint::kEnd, &worker->member->team->tool_data, &worker->task->tool_data, codeptr);
}

}  // namespace marline
