// SPDX-License-Identifier: Apache-2.0
//
// Keeps mappings by size class, and limits their total size.
#include "base/memory/large_cache.hpp"

#include <algorithm>
#include <bit>

#include "base/memory/memory_limit.hpp"

namespace marline {
namespace {

constexpr size_t kFineUnits = 16;  // up to here, there is one class per unit

Atomic<size_t> g_cached{0};  // bytes; added before a mapping is kept, subtracted after it has been taken

size_t most_cached() {
  static Atomic<size_t> known{0};  // 0 until the first call. Threads that race store the same value.
  size_t most = known.load(relaxed);
  if (most == 0) {
    const size_t limit = address_space_limit();
    most =
        limit == 0 ? LargeCache::kMostCached : std::min(LargeCache::kMostCached, limit / LargeCache::kShareOfLimit + 1);
    known.store(most, relaxed);
  }
  return most;
}

// The size, in units, of the class for so many units.
size_t round_units(size_t units) {
  if (units <= kFineUnits) return units;
  const size_t step = std::bit_floor(units - 1) / 4;
  return (units + step - 1) / step * step;
}

}  // namespace

size_t LargeCache::mapping_bytes(size_t bytes) {
  const size_t units = (bytes + kUnit - 1) / kUnit;
  return (bytes > kLargest ? units : round_units(units)) * kUnit;
}

unsigned LargeCache::class_of(size_t bytes) {
  const size_t units = bytes / kUnit;
  if (units <= kFineUnits) return static_cast<unsigned>(units - 1);
  const auto width = static_cast<unsigned>(std::bit_width(units - 1));  // from 5 on: 17 to 32 units
  return kFineUnits + (width - 5) * 4 + static_cast<unsigned>((units - 1) >> (width - 3) & 3);
}

size_t LargeCache::class_bytes(unsigned size_class) {
  if (size_class < kFineUnits) return (size_class + 1) * kUnit;
  const size_t power = kFineUnits << ((size_class - kFineUnits) / 4);
  return (power + power / 4 * ((size_class - kFineUnits) % 4 + 1)) * kUnit;
}

// Under the lock.
LargeCache::Free* LargeCache::pop(unsigned size_class) {
  Free* free = free_[size_class];
  if (free == nullptr) return nullptr;
  free_[size_class] = free->next;
  count_.store(count_.load(relaxed) - 1, relaxed);
  g_cached.fetch_sub(class_bytes(size_class), relaxed);
  return free;
}

void* LargeCache::take(size_t bytes) {
  if (bytes > kLargest || count_.load(relaxed) == 0) return nullptr;
  Guard guard(lock_);
  return pop(class_of(bytes));
}

bool LargeCache::put(void* memory, size_t bytes) {
  if (bytes > kLargest) return false;
  if (g_cached.fetch_add(bytes, relaxed) + bytes > most_cached()) {
    g_cached.fetch_sub(bytes, relaxed);
    return false;
  }
  auto* free = static_cast<Free*>(memory);
  Guard guard(lock_);
  Free*& first = free_[class_of(bytes)];
  free->next = first;
  first = free;
  count_.store(count_.load(relaxed) + 1, relaxed);
  return true;
}

LargeCache::Mapping LargeCache::evict() {
  if (count_.load(relaxed) == 0) return {nullptr, 0};
  Guard guard(lock_);
  for (unsigned size_class = kClasses; size_class-- > 0;) {
    if (Free* free = pop(size_class)) return {free, class_bytes(size_class)};
  }
  return {nullptr, 0};
}

size_t LargeCache::cached_bytes() { return g_cached.load(relaxed); }

}  // namespace marline
