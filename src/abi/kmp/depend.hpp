// SPDX-License-Identifier: Apache-2.0
//
// From Clang's kmp_depend_info to the graph's dependences.
#pragma once

#include "abi/kmp/types.hpp"
#include "construct/dependence_buffer.hpp"

namespace marline::kmp {

inline Access access_of(uint8_t flags) {
  if (flags & kDependMutexinoutset) return Access::kMutexinoutset;
  if (flags & kDependInoutset) return Access::kInoutset;
  return flags & kDependOut ? Access::kOut : Access::kIn;
}

inline void decode(DependenceBuffer& buffer, const DependInfo* list, int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    if (list[i].flags & kDependAllMemory) {
      buffer.add(nullptr, Access::kOut);
    } else if (list[i].address != nullptr) {
      buffer.add(list[i].address, access_of(list[i].flags));
    }
  }
}

}  // namespace marline::kmp
