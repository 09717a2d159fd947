// SPDX-License-Identifier: Apache-2.0
//
// The functions at which a debugger stops (OMPD; OpenMP 5.2, sections 20.2.3 and 20.6). They do nothing. With
// OMP_DEBUG=enabled the runtime calls them where it reports the same events to tools; otherwise nothing calls them.
#pragma once

#include "tool/tool.hpp"

extern "C" {
#pragma GCC visibility push(default)
// The names of libraries that understand this runtime's data, a null pointer after the last. Null until
// ompd_dll_locations_valid() is called.
extern const char** ompd_dll_locations;
void ompd_dll_locations_valid();
void ompd_bp_thread_begin();
void ompd_bp_thread_end();
void ompd_bp_parallel_begin();
void ompd_bp_parallel_end();
void ompd_bp_teams_begin();
void ompd_bp_teams_end();
void ompd_bp_task_begin();
void ompd_bp_task_end();
#pragma GCC visibility pop
}

namespace marline::tool {

// From now on the runtime keeps for a debugger what it keeps for a tool, and calls these functions. Before the first
// event.
void accept_debugger();

inline bool debugged() { return on(event::kDebugger); }

// When the team of a parallel region is there, and its threads have not begun.
inline void debug_parallel_begin() {
  if (debugged()) [[unlikely]] {
    ompd_bp_parallel_begin();
  }
}

// Around the code of a task, while the task is the thread's current one.
inline void debug_task_begin() {
  if (debugged()) [[unlikely]] {
    ompd_bp_task_begin();
  }
}
inline void debug_task_end() {
  if (debugged()) [[unlikely]] {
    ompd_bp_task_end();
  }
}

}  // namespace marline::tool
