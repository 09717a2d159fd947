// SPDX-License-Identifier: Apache-2.0
//
// How LLVM's libomptarget is found: our own library has its names, so it is opened by its path.
#pragma once

namespace marline::target {

// Opened with RTLD_DEEPBIND, so that what it asks of the OpenMP runtime goes to the one it needs, i.e. to libmarline by
// the compat folder, and what it calls of itself stays there. Null, and `why` is set, if there is none. Not thread-safe.
[[nodiscard]] void* open_llvm_library(const char** why);

}  // namespace marline::target
