// SPDX-License-Identifier: Apache-2.0
//
// The C++ runtime's per-thread exception state (Itanium C++ ABI, section 2.2.2, __cxa_eh_globals: the stack of caught
// exceptions and the number of uncaught ones). If a task suspends inside a catch block, it must get its own state back
// when it is resumed, and the thread that it leaves must not keep it. Marline itself links no C++ runtime; it looks up
// the program's, if there is one.
#pragma once

#include "sched/team.hpp"

#include <cstdint>

namespace marline {

struct ExceptionState {
  void* caught = nullptr;
  unsigned int uncaught = 0;
};

// Looks for the program's C++ runtime if the worker has not found one yet; a library may bring one at any time.
void exception_state_look_up(Worker* worker);

// Without a C++ runtime in the program, both are a test of one pointer.
inline ExceptionState exception_state_of(const Worker* worker) {
  auto* globals = static_cast<const ExceptionState*>(worker->thread.exception_globals);
  return globals != nullptr ? *globals : ExceptionState{};
}

// Whether the current task is inside of a catch block or of unwinding.
inline bool exceptions_in_flight(const Worker* worker) {
  ExceptionState state = exception_state_of(worker);
  return state.caught != nullptr || state.uncaught != 0;
}

inline void exception_state_install(Worker* worker, const ExceptionState& state) {
  if (auto* globals = static_cast<ExceptionState*>(worker->thread.exception_globals)) *globals = state;
}

}  // namespace marline
