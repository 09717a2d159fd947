// SPDX-License-Identifier: Apache-2.0
//
// How routines about devices reach LLVM's libomptarget, or what stands in front of it, if that is in the process: its
// definitions of the same names come behind ours in the loader's order. Any thread.
#pragma once

#include <dlfcn.h>

namespace marline {

// The definition of `name` behind this library, or null; looked up at each call: routines of this kind are rare and slow.
// The first argument is ours, for its type.
template <class Function>
Function next(Function, const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace marline
