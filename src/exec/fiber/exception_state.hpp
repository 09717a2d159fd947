// SPDX-License-Identifier: Apache-2.0
//
// The C++ runtime's per-thread exception state (Itanium C++ ABI, section 2.2.2, __cxa_eh_globals: the stack of caught
// exceptions and the number of uncaught ones). A task that suspends inside a catch block must find its own again, and the
// thread it leaves must not. Marline itself links no C++ runtime: the program's is looked up when it has one.
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
  auto* globals = static_cast<const ExceptionState*>(worker->exception_globals);
  return globals != nullptr ? *globals : ExceptionState{};
}

// Whether the current task is inside of a catch block or of unwinding.
inline bool exceptions_in_flight(const Worker* worker) {
  ExceptionState state = exception_state_of(worker);
  return state.caught != nullptr || state.uncaught != 0;
}

inline void exception_state_install(Worker* worker, const ExceptionState& state) {
  if (auto* globals = static_cast<ExceptionState*>(worker->exception_globals)) *globals = state;
}

}  // namespace marline
