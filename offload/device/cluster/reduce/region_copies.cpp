// SPDX-License-Identifier: Apache-2.0
//
// Keeps a node's copies of variables of task reductions.
#include "device/cluster/reduce/region_copies.hpp"

#include "base/report.hpp"

#include <cstdlib>
#include <cstring>

namespace marline::offload::device {

namespace {

constexpr uint64_t kAlignment = 64;  // copies of different regions share no cache line

char* allocate(uint64_t bytes) {
  auto* memory = static_cast<char*>(std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) & ~(kAlignment - 1)));
  if (memory == nullptr) fatal("no memory for a region's copy (%lu bytes) of a variable of a task reduction", bytes);
  return memory;
}

}  // namespace

char* RegionCopies::take_free(uint64_t buffer, bool forgets) {
  Guard guard(lock_);
  for (size_t i = 0; i < copies_.count(); ++i) {
    if (copies_[i].buffer != buffer || copies_[i].is_taken) continue;
    char* memory = copies_[i].memory;
    copies_[i].is_taken = true;
    if (forgets) copies_.erase(i);
    return memory;
  }
  return nullptr;
}

char* RegionCopies::take(uint64_t buffer, const char* initial, uint64_t bytes) {
  if (char* known = take_free(buffer, false)) return known;
  char* memory = allocate(bytes);
  std::memcpy(memory, initial, bytes);
  Guard guard(lock_);
  copies_.push({buffer, memory, true});
  return memory;
}

void RegionCopies::give_back(uint64_t buffer, const char* copy) {
  Guard guard(lock_);
  for (Copy& one : copies_) {
    if (one.buffer == buffer && one.memory == copy) one.is_taken = false;
  }
}

void RegionCopies::combine(uint64_t buffer, Combine function, char* to) {
  while (char* copy = take_free(buffer, true)) {
    function(to, copy);
    std::free(copy);
  }
}

}  // namespace marline::offload::device
