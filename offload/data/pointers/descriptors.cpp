// SPDX-License-Identifier: Apache-2.0
//
// Keeps the bytes that Fortran arrays' descriptors had when they were last copied to the device.
#include "data/pointers/descriptors.hpp"

#include <algorithm>
#include <cstring>

namespace marline::offload::data {

uint32_t Descriptors::first_from(uintptr_t begin) const {
  auto* found = std::lower_bound(known_.begin(), known_.end(), begin,
                                 [](const Known& one, uintptr_t at) { return one.begin < at; });
  return static_cast<uint32_t>(found - known_.begin());
}

bool Descriptors::has(uintptr_t begin, size_t bytes) const {
  const Known* known = known_.begin() + first_from(begin);
  if (known == known_.end() || known->begin != begin || known->bytes != bytes || !known->is_valid) return false;
  return std::memcmp(copies_.begin() + known->at, reinterpret_cast<const void*>(begin), bytes) == 0;
}

// A descriptor that overlaps known ones, or has another size than the known one at its address, belongs to a new
// variable in the same memory. Then all known descriptors are forgotten.
void Descriptors::note(uintptr_t begin, size_t bytes) {
  uint32_t at = first_from(begin);
  bool is_known = at < known_.count() && known_[at].begin == begin && known_[at].bytes == bytes;
  auto* now = reinterpret_cast<const char*>(begin);
  if (is_known) {
    known_[at].is_valid = true;
    std::memcpy(copies_.begin() + known_[at].at, now, bytes);
    return;
  }
  bool is_in_way = (at < known_.count() && known_[at].begin < begin + bytes) ||
                   (at > 0 && known_[at - 1].begin + known_[at - 1].bytes > begin);
  if (is_in_way) {
    clear();
    at = 0;
  }
  known_.insert(at, {begin, static_cast<uint32_t>(bytes), static_cast<uint32_t>(copies_.count()), true});
  for (size_t i = 0; i < bytes; ++i) copies_.push(now[i]);
}

void Descriptors::forget(uintptr_t begin, size_t bytes) {
  uint32_t at = first_from(begin);
  if (at > 0 && known_[at - 1].begin + known_[at - 1].bytes > begin) --at;
  for (; at < known_.count() && known_[at].begin < begin + bytes; ++at) known_[at].is_valid = false;
}

void Descriptors::clear() {
  known_.shrink(0);
  copies_.shrink(0);
}

}  // namespace marline::offload::data
