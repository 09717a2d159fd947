// SPDX-License-Identifier: Apache-2.0
//
// Tells which of the claimed tasks the program waits for.
#include "submission/queue/waits.hpp"

#include <algorithm>

extern "C" int omp_get_level();

namespace marline::offload::submission {

namespace {

// An address that identifies the calling thread at its level of nesting.
const void* self() {
  constexpr int kLevels = 16;
  static thread_local char levels[kLevels];
  return &levels[std::min(omp_get_level(), kLevels - 1)];
}

}  // namespace

uint64_t TaskWaits::add(bool is_alone) {
  const void* creator = self();
  bool is_only_one = is_alone || creator_.load(std::memory_order_relaxed) == creator;
  creator_.store(is_only_one ? creator : nullptr, std::memory_order_relaxed);
  return created_.fetch_add(1, std::memory_order_relaxed) + 1;
}

// Whether a wait of this kind may end before all tasks in progress have ended. A thread at a barrier needs all tasks of
// its team, so all tasks if one thread has created them in one region. The predecessors that depend clauses name are
// reported separately (marline_target_observer_t, awaited).
bool TaskWaits::is_for_some(marline_wait_kind_t kind) const {
  bool is_for_all = kind == MARLINE_WAIT_BARRIER && creator_.load(std::memory_order_relaxed) != nullptr;
  return !is_for_all && kind != MARLINE_WAIT_FOR_WORK && kind != MARLINE_WAIT_DEPENDENCES;
}

bool TaskWaits::has_notified(marline_wait_kind_t kind) const {
  const std::atomic<uint64_t>& reported = is_for_some(kind) ? awaited_ : waited_;
  return created_.load(std::memory_order_relaxed) == reported.load(std::memory_order_relaxed);
}

void TaskWaits::begin(marline_wait_kind_t kind, bool holds_back) {
  uint64_t created = created_.load(std::memory_order_relaxed);
  bool singly = is_for_some(kind);
  singly_ = singly_ || singly;
  must_notify_ = must_notify_ || singly || holds_back;
  waited_.store(created, std::memory_order_relaxed);
  if (singly) awaited_.store(created, std::memory_order_relaxed);
}

bool TaskWaits::take() {
  bool singly = singly_;
  must_notify_ = singly_ = false;
  return singly;
}

void TaskWaits::forget() {
  uint64_t created = created_.load(std::memory_order_relaxed);
  waited_.store(created, std::memory_order_relaxed);
  awaited_.store(created, std::memory_order_relaxed);
  must_notify_ = singly_ = false;
}

}  // namespace marline::offload::submission
