// SPDX-License-Identifier: Apache-2.0
//
// The program's exception state, per thread: see the header. The calling thread's worker only.
#include "exec/fiber/exception_state.hpp"

#include <dlfcn.h>

namespace marline {

void exception_state_look_up(Worker* worker) {
  if (worker->exception_globals != nullptr) return;
  using GetGlobals = ExceptionState* (*)();  // __cxa_eh_globals begins with these two members
  if (auto get = reinterpret_cast<GetGlobals>(dlsym(RTLD_DEFAULT, "__cxa_get_globals"))) {
    worker->exception_globals = get();
  }
}

}  // namespace marline
