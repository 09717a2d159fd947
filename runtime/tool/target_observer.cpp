// SPDX-License-Identifier: Apache-2.0
//
// Calls the functions of the observer of target tasks. Any thread.
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

void tell_ready(void* claimed_by) {
  const marline_target_observer_t* observer = target_observer();
  if (observer->ready != nullptr) observer->ready(claimed_by);
}

void tell_raise(uint64_t number, int32_t priority) {
  const marline_target_observer_t* observer = target_observer();
  if (observer->raised != nullptr) observer->raised(number, priority);
}

void tell_iterates(uint64_t graph, bool is_behind) {
  const marline_target_observer_t* observer = target_observer();
  if (observer->iterates != nullptr) observer->iterates(graph, is_behind ? 1 : 0);
}

void tell_iterated(uint64_t graph) {
  const marline_target_observer_t* observer = target_observer();
  if (observer->iterated != nullptr) observer->iterated(graph);
}

void tell_graph_ends(uint64_t graph) {
  const marline_target_observer_t* observer = target_observer();
  if (observer->graph_ends != nullptr) observer->graph_ends(graph);
}

void tell_awaited(uint64_t number) {
  const marline_target_observer_t* observer = target_observer();
  if (observer->awaited != nullptr) observer->awaited(number);
}

}  // namespace marline::tool
