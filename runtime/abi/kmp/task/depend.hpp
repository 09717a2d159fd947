// SPDX-License-Identifier: Apache-2.0
//
// From Clang's kmp_depend_info to the graph's dependences.
#pragma once

#include "abi/kmp/types.hpp"
#include "base/small_array.hpp"
#include "construct/task/dependence_buffer.hpp"

namespace marline::kmp {

// The access for the kind of dependence, which the low bits of the flags hold.
inline Access access_of(uint8_t flags) {
  constexpr Access kMutex = Access::kMutexinoutset, kSet = Access::kInoutset;
  static constexpr Access kAccesses[16] = {Access::kIn, Access::kIn, Access::kOut, Access::kOut, kMutex, kMutex,
                                           kMutex,      kMutex,      kSet,         kSet,         kSet,   kSet,
                                           kMutex,      kMutex,      kMutex,       kMutex};
  static_assert(kDependIn == 1 && kDependOut == 2 && kDependMutexinoutset == 4 && kDependInoutset == 8);
  return kAccesses[flags & (kDependIn | kDependOut | kDependMutexinoutset | kDependInoutset)];
}

// omp_all_memory: a flag of its own, or the address -1 (Intel's compilers).
inline bool is_all_memory(const DependInfo& info) {
  return (info.flags & kDependAllMemory) || reinterpret_cast<intptr_t>(info.address) == -1;
}

inline void decode(DependenceBuffer& buffer, const DependInfo* list, int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    if (is_all_memory(list[i])) {
      buffer.add(nullptr, Access::kOut);
    } else if (list[i].address != nullptr) {
      buffer.add(list[i].address, access_of(list[i].flags));
    }
  }
}

// How long the list items are, for the entries that `decode` makes. 0: not known.
inline void decode_bytes(SmallArray<size_t>& to, const DependInfo* list, int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    if (is_all_memory(list[i])) {
      to.push(0);
    } else if (list[i].address != nullptr) {
      to.push(list[i].length);
    }
  }
}

}  // namespace marline::kmp
