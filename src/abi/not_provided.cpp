// SPDX-License-Identifier: Apache-2.0
//
// The end of every entry point in not_provided.txt. Any thread.
#include "abi/not_provided.hpp"

#include "base/check.hpp"

namespace marline {

void not_provided(const char* name, const char* purpose) {
  fatal("%s (%s) is not provided by Marline yet; run this program with its compiler's own OpenMP runtime, or without "
        "that construct", name, purpose);
}

}  // namespace marline
