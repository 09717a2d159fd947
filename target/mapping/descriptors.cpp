// SPDX-License-Identifier: Apache-2.0
//
// See the header.
#include "mapping/descriptors.hpp"

#include <algorithm>
#include <cstring>

namespace marline::target {

uint32_t Descriptors::first_from(uintptr_t begin) const {
  auto* found = std::lower_bound(known_.begin(), known_.end(), begin,
                                 [](const Known& one, uintptr_t at) { return one.begin < at; });
  return static_cast<uint32_t>(found - known_.begin());
}

bool Descriptors::has(uintptr_t begin, size_t bytes) const {
  const Known* known = known_.begin() + first_from(begin);
  if (known == known_.end() || known->begin != begin || known->bytes != bytes) return false;
  return std::memcmp(copies_.begin() + known->at, reinterpret_cast<const void*>(begin), bytes) == 0;
}

void Descriptors::note(uintptr_t begin, size_t bytes) {
  uint32_t at = first_from(begin);
  bool is_known = at < known_.count() && known_[at].begin == begin;
  if (is_known && known_[at].bytes != bytes) {  // an array of another rank: its memory is another variable's now
    clear();
    is_known = false;
    at = 0;
  }
  auto* now = reinterpret_cast<const char*>(begin);
  if (is_known) {
    std::memcpy(copies_.begin() + known_[at].at, now, bytes);
    return;
  }
  known_.insert(at, {begin, static_cast<uint32_t>(bytes), copies_.count()});
  for (size_t i = 0; i < bytes; ++i) copies_.push(now[i]);
}

void Descriptors::clear() {
  known_.shrink(0);
  copies_.shrink(0);
}

}  // namespace marline::target
