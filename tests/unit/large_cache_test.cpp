// SPDX-License-Identifier: Apache-2.0
//
// base/memory/large_cache.hpp: sizes, a mapping comes back for its size only, the kept memory is bounded and can be
// evicted.
#include "base/memory/large_cache.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <vector>

namespace marline {
namespace {

constexpr size_t kUnit = LargeCache::kUnit;

void* map(size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  EXPECT_NE(memory, MAP_FAILED);
  return memory;
}

void unmap_all(LargeCache& cache) {
  for (;;) {
    const LargeCache::Mapping mapping = cache.evict();
    if (mapping.memory == nullptr) return;
    munmap(mapping.memory, mapping.bytes);
  }
}

TEST(LargeCache, SizesWasteLittle) {
  EXPECT_EQ(LargeCache::mapping_bytes(1), kUnit);
  EXPECT_EQ(LargeCache::mapping_bytes(kUnit + 1), 2 * kUnit);
  EXPECT_EQ(LargeCache::mapping_bytes(16 * kUnit), 16 * kUnit);
  EXPECT_EQ(LargeCache::mapping_bytes(16 * kUnit + 1), 20 * kUnit);
  EXPECT_EQ(LargeCache::mapping_bytes(LargeCache::kLargest), LargeCache::kLargest);
  EXPECT_EQ(LargeCache::mapping_bytes(LargeCache::kLargest + 1), LargeCache::kLargest + kUnit);
  for (size_t bytes = 1; bytes < 2 * LargeCache::kLargest; bytes += 1000) {
    const size_t mapping = LargeCache::mapping_bytes(bytes);
    ASSERT_EQ(mapping % kUnit, 0u);
    ASSERT_EQ(LargeCache::mapping_bytes(mapping), mapping);
    ASSERT_GE(mapping, bytes);
    ASSERT_LE(mapping, bytes + bytes / 4 + kUnit);
  }
}

// Each size has a class of its own.
TEST(LargeCache, AMappingComesBackForItsSize) {
  LargeCache cache;
  std::vector<LargeCache::Mapping> mappings;
  for (size_t bytes = 1; bytes <= LargeCache::kLargest;) {
    bytes = LargeCache::mapping_bytes(bytes);
    mappings.push_back({map(bytes), bytes});
    ASSERT_TRUE(cache.put(mappings.back().memory, bytes));
    ++bytes;
  }
  size_t held = 0;
  for (const auto& mapping : mappings) held += mapping.bytes;
  EXPECT_EQ(LargeCache::cached_bytes(), held);
  for (const auto& mapping : mappings) {
    EXPECT_EQ(cache.take(mapping.bytes), mapping.memory);
    EXPECT_EQ(cache.take(mapping.bytes), nullptr);
    ASSERT_TRUE(cache.put(mapping.memory, mapping.bytes));
  }
  const LargeCache::Mapping largest = cache.evict();
  EXPECT_EQ(largest.memory, mappings.back().memory);
  EXPECT_EQ(largest.bytes, mappings.back().bytes);
  munmap(largest.memory, largest.bytes);
  unmap_all(cache);
  EXPECT_EQ(LargeCache::cached_bytes(), 0u);
}

TEST(LargeCache, AllTogetherKeepNoMoreThanTheBound) {
  LargeCache one, other;
  size_t kept = 0;
  for (size_t i = 0; i < 2 * LargeCache::kMostCached / LargeCache::kLargest; ++i) {
    void* memory = map(LargeCache::kLargest);
    if ((i % 2 != 0 ? one : other).put(memory, LargeCache::kLargest)) {
      kept += LargeCache::kLargest;
    } else {
      munmap(memory, LargeCache::kLargest);
    }
  }
  EXPECT_EQ(kept, LargeCache::kMostCached);
  void* memory = map(LargeCache::kLargest + kUnit);
  unmap_all(one);
  EXPECT_FALSE(one.put(memory, LargeCache::kLargest + kUnit));
  munmap(memory, LargeCache::kLargest + kUnit);
  unmap_all(other);
}

}  // namespace
}  // namespace marline
