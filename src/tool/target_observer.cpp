// SPDX-License-Identifier: Apache-2.0
//
// See the header. Any thread.
#include "tool/target_observer.hpp"

namespace marline::tool {

void tell_wait_slowly(marline_wait_kind_t kind) {
  const marline_target_observer_t* observer = target_observer();
  if (observer != nullptr && observer->waits != nullptr) observer->waits(kind);
}

void tell_cancellation() {
  if (!on(event::kTargetTasks)) return;
  const marline_target_observer_t* observer = target_observer();
  if (observer != nullptr && observer->cancels != nullptr) observer->cancels();
}

void tell_raise(uint64_t number, int32_t priority) {
  const marline_target_observer_t* observer = target_observer();
  if (observer->raised != nullptr) observer->raised(number, priority);
}

}  // namespace marline::tool
