// SPDX-License-Identifier: Apache-2.0
//
// Calls the functions of the observer of target tasks. Any thread.
#include "tool/target_observer.hpp"

namespace marline::tool {

void report_wait_slowly(marline_wait_kind_t kind) {
  const marline_target_observer_t* observer = target_observer();
  if (observer != nullptr && observer->waits != nullptr) observer->waits(kind);
}

void report_cancellation() {
  if (!on(event::kTargetTasks)) return;
  const marline_target_observer_t* observer = target_observer();
  if (observer != nullptr && observer->cancels != nullptr) observer->cancels();
}

void report_ready(void* claimed_by) {
  const marline_target_observer_t* observer = target_observer();
  if (observer->ready != nullptr) observer->ready(claimed_by);
}

void report_raise(uint64_t number, int32_t priority) {
  const marline_target_observer_t* observer = target_observer();
  if (observer->raised != nullptr) observer->raised(number, priority);
}

void report_iterates(uint64_t graph, bool has_barrier) {
  const marline_target_observer_t* observer = target_observer();
  if (observer->iterates != nullptr) observer->iterates(graph, has_barrier ? 1 : 0);
}

void report_iterated(uint64_t graph) {
  const marline_target_observer_t* observer = target_observer();
  if (observer->iterated != nullptr) observer->iterated(graph);
}

void report_graph_ends(uint64_t graph) {
  const marline_target_observer_t* observer = target_observer();
  if (observer->graph_ends != nullptr) observer->graph_ends(graph);
}

void report_awaited(uint64_t number) {
  const marline_target_observer_t* observer = target_observer();
  if (observer->awaited != nullptr) observer->awaited(number);
}

}  // namespace marline::tool
