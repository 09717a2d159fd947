// SPDX-License-Identifier: Apache-2.0
//
// cancel: not provided yet, and said so rather than ignored. Any thread.
#include "construct/cancel.hpp"

#include "base/check.hpp"
#include "config/options.hpp"

namespace marline {

bool cancel_requested() {
  if (options().cancellation) {
    fatal("a cancel construct with OMP_CANCELLATION=true is not provided by Marline yet; unset OMP_CANCELLATION");
  }
  return false;
}

}  // namespace marline
