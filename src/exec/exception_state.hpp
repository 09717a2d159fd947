// SPDX-License-Identifier: Apache-2.0
//
// The C++ runtime's per-thread exception state (Itanium C++ ABI, section 2.2.2, __cxa_eh_globals: the stack of caught
// exceptions and the number of uncaught ones). A task that suspends inside a catch block must find its own again, and the
// thread it leaves must not. Marline itself links no C++ runtime: the program's is looked up when it has one.
#pragma once

#include <cstdint>

namespace marline {

struct Worker;

struct ExceptionState {
  void* caught = nullptr;
  uint32_t uncaught = 0;
};

// Looks for the program's C++ runtime if the worker has not found one yet; a library may bring one at any time.
void exception_state_look_up(Worker* worker);

ExceptionState exception_state_of(const Worker* worker);
void exception_state_install(Worker* worker, const ExceptionState& state);

}  // namespace marline
