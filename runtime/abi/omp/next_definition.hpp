// SPDX-License-Identifier: Apache-2.0
//
// How routines about devices find LLVM's libomptarget, or a library before it in the loader's order, if it is in the
// process. Any thread.
#pragma once

namespace marline {

// Another library's definition of `name`, or null; looked up at each call: routines of this kind are rare and slow.
void* next_definition(const char* name);

// The first argument is Marline's function of that name; only its type is used.
template <class Function>
Function next(Function, const char* name) {
  return reinterpret_cast<Function>(next_definition(name));
}

}  // namespace marline
