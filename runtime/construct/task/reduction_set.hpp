// SPDX-License-Identifier: Apache-2.0
//
// The target of Taskgroup::reductions: a ReductionSet, or GCC's words with bit 0 of the pointer set. Internal to
// task_reduction.cpp and gcc_reduction.cpp.
#pragma once

#include "construct/task/task_reduction.hpp"

namespace marline {

struct ReductionSet {
  size_t count;
  int threads;
  ReductionItem* items;
  // Indexed [item][thread], plus one copy per item for claimed target tasks (marline_reduction_t in devices.h). Null
  // until a task on that thread, or the first claimed task, asks. A thread's copy is set on that thread; the claimed
  // tasks' copy is set by the first thread that asks. Other threads compare addresses with the copies.
  Atomic<void*>* copies;

  [[nodiscard]] size_t columns() const { return static_cast<size_t>(threads) + 1; }
  [[nodiscard]] Atomic<void*>& copy(size_t item, int thread) const {
    return copies[item * columns() + static_cast<size_t>(thread)];
  }
  [[nodiscard]] Atomic<void*>& claimed_copy(size_t item) const { return copy(item, threads); }
};

inline constexpr uintptr_t kGccTag = 1;

inline bool is_gcc(const Taskgroup* group) { return reinterpret_cast<uintptr_t>(group->reductions) & kGccTag; }

inline ReductionSet* clang_reductions(const Taskgroup* group) {
  return is_gcc(group) ? nullptr : static_cast<ReductionSet*>(group->reductions);
}

inline GccReduction* gcc_reductions(const Taskgroup* group) {
  if (!is_gcc(group)) return nullptr;
  return reinterpret_cast<GccReduction*>(reinterpret_cast<uintptr_t>(group->reductions) & ~kGccTag);
}

}  // namespace marline
