// SPDX-License-Identifier: Apache-2.0
//
// The program's exception state, per thread: see the header. The calling thread's worker only.
#include "exec/exception_state.hpp"

#include "sched/team.hpp"

#include <dlfcn.h>

namespace marline {

namespace {

struct Globals {  // Itanium C++ ABI, section 2.2.2
  void* caught_exceptions;
  unsigned int uncaught_exceptions;
};

}  // namespace

void exception_state_look_up(Worker* worker) {
  if (worker->exception_globals != nullptr) return;
  using GetGlobals = Globals* (*)();
  if (auto get = reinterpret_cast<GetGlobals>(dlsym(RTLD_DEFAULT, "__cxa_get_globals"))) {
    worker->exception_globals = get();
  }
}

ExceptionState exception_state_of(const Worker* worker) {
  auto* globals = static_cast<const Globals*>(worker->exception_globals);
  if (globals == nullptr) return {};
  return {globals->caught_exceptions, globals->uncaught_exceptions};
}

void exception_state_install(Worker* worker, const ExceptionState& state) {
  auto* globals = static_cast<Globals*>(worker->exception_globals);
  if (globals == nullptr) return;
  globals->caught_exceptions = state.caught;
  globals->uncaught_exceptions = state.uncaught;
}

}  // namespace marline
