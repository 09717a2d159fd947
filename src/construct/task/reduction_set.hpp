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
  // [item][thread]; null until a task on that thread asks. Written on that thread; others compare addresses with it.
  Atomic<void*>* copies;

  [[nodiscard]] Atomic<void*>& copy(size_t item, int thread) const {
    return copies[item * static_cast<size_t>(threads) + static_cast<size_t>(thread)];
  }
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
