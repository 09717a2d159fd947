// SPDX-License-Identifier: Apache-2.0
//
// Every entry point in not_provided.txt ends the program here. Any thread.
#include "abi/not_provided.hpp"

#include "base/check.hpp"

namespace marline {

void not_provided(const char* name, const char* purpose) {
  fatal(
      "%s (%s) is not provided by Marline yet; run this program with its compiler's own OpenMP runtime, or without "
      "that construct",
      name, purpose);
}

}  // namespace marline
