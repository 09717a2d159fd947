// SPDX-License-Identifier: Apache-2.0
//
// See the header.
#include "face/ahead_waits.hpp"

#include "face/ahead.hpp"

#include <algorithm>

extern "C" int omp_get_level();

namespace marline::target {

namespace {

// The calling thread at its level of nesting.
const void* self() {
  constexpr int kLevels = 16;
  static thread_local char levels[kLevels];
  return &levels[std::min(omp_get_level(), kLevels - 1)];
}

}  // namespace

uint64_t AheadWaits::add(bool is_alone) {
  const void* creator = self();
  bool is_only_one = is_alone || creator_.load(std::memory_order_relaxed) == creator;
  creator_.store(is_only_one ? creator : nullptr, std::memory_order_relaxed);
  return created_.fetch_add(1, std::memory_order_relaxed) + 1;
}

// Whether a thread that waits so may go on before all tasks have ended that are under way. At a barrier it needs all of its
// team's, so all if one thread has created them in one region. What is behind depend clauses is told by itself
// (marline_target_observer_t, awaited).
bool AheadWaits::is_for_some(marline_wait_kind_t kind) const {
  bool is_for_all = kind == MARLINE_WAIT_BARRIER && creator_.load(std::memory_order_relaxed) != nullptr;
  return !is_for_all && kind != MARLINE_WAIT_FOR_WORK && kind != MARLINE_WAIT_DEPENDENCES;
}

bool AheadWaits::has_told(marline_wait_kind_t kind) const {
  const std::atomic<uint64_t>& told = is_for_some(kind) ? awaited_ : waited_;
  return created_.load(std::memory_order_relaxed) == told.load(std::memory_order_relaxed);
}

void AheadWaits::begin(marline_wait_kind_t kind, bool holds_back) {
  uint64_t created = created_.load(std::memory_order_relaxed);
  bool singly = is_for_some(kind);
  singly_ = singly_ || singly;
  tells_ = tells_ || singly || holds_back;
  waited_.store(created, std::memory_order_relaxed);
  if (singly) awaited_.store(created, std::memory_order_relaxed);
}

bool AheadWaits::take() {
  bool singly = singly_;
  tells_ = singly_ = false;
  return singly;
}

void AheadWaits::forget() {
  uint64_t created = created_.load(std::memory_order_relaxed);
  waited_.store(created, std::memory_order_relaxed);
  awaited_.store(created, std::memory_order_relaxed);
  tells_ = singly_ = false;
}

// Under the lock, of one that is awaited.
void note_to_tell(Ahead* one, List<uint64_t>& tell) {
  if (one->state != Ahead::State::kHanded || one->is_told || one->has_ended) return;
  one->is_told = true;
  tell.push(one->number);
}

// Likewise: the ends of these claimed tasks are wanted on the host, and so are those of their predecessors: a task is ended
// behind them. Each task is looked at once. The device hears of those in `tell`, without the lock.
void note_awaited(const List<uint64_t>& numbers, List<uint64_t>& tell) {
  List<uint64_t> left;
  for (uint64_t number : numbers) left.push(number);
  while (!left.is_empty()) {
    Ahead* one = find_claimed(left.back());
    left.pop();
    if (one == nullptr || one->is_awaited || one->state == Ahead::State::kLeft) continue;
    one->is_awaited = true;
    if (one->task->kernel != nullptr)
      const_cast<Entry*>(one->task->kernel)->is_awaited.store(true, std::memory_order_relaxed);
    note_to_tell(one, tell);
    for (uint64_t before : one->predecessors) left.push(before);
  }
}

void tell_awaited(Device* device, const List<uint64_t>& numbers) {
  for (uint64_t number : numbers) device->kind->ahead->await(device, number);
}

}  // namespace marline::target
