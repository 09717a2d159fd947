// SPDX-License-Identifier: Apache-2.0
//
// Ends the program when it calls an entry point that this library does not provide.
#include "abi/clang/not_provided.hpp"

#include "base/report.hpp"

namespace marline::offload::abi {

void not_provided(const char* name, const char* purpose) {
  fatal(
      "%s (%s) is not provided by libmarline-target; run this program with LLVM's own libomptarget, or without that "
      "call",
      name, purpose);
}

}  // namespace marline::offload::abi
