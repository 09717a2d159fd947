// SPDX-License-Identifier: Apache-2.0
//
// base/memory/slab.hpp: sizes and alignment, no block given twice, remote frees from several threads come back to their
// owner, memory stays bounded, a retired pool is used again with its living blocks intact.
#include "base/memory/slab.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <barrier>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "base/spin_lock.hpp"

namespace marline {
namespace {

bool filled_with(const void* block, unsigned char byte, size_t bytes) {
  const auto* at = static_cast<const unsigned char*>(block);
  return std::all_of(at, at + bytes, [byte](unsigned char found) { return found == byte; });
}

TEST(SlabPool, ClassesWasteLittle) {
  EXPECT_EQ(SlabPool::block_bytes(0), 64u);
  EXPECT_EQ(SlabPool::block_bytes(64), 64u);
  EXPECT_EQ(SlabPool::block_bytes(65), 128u);
  EXPECT_EQ(SlabPool::block_bytes(512), 512u);
  EXPECT_EQ(SlabPool::block_bytes(513), 768u);
  EXPECT_EQ(SlabPool::block_bytes(769), 1024u);
  EXPECT_EQ(SlabPool::block_bytes(1025), 1536u);
  EXPECT_EQ(SlabPool::block_bytes(16384), 16384u);
  for (size_t bytes = 1; bytes <= SlabPool::kClassLimit; ++bytes) {
    const size_t block = SlabPool::block_bytes(bytes);
    ASSERT_GE(block, bytes);
    ASSERT_LT(block, bytes + std::max<size_t>(64, bytes / 2 + 1)) << bytes;
  }
}

TEST(SlabPool, CountsTheBytesInUse) {
  SlabPool* pool = SlabPool::acquire();
  const size_t before = pool->bytes_in_use();
  void* small = pool->allocate(100);
  void* other = pool->allocate(600);
  EXPECT_EQ(pool->bytes_in_use() - before, 128u + 768u);
  void* large = pool->allocate(1'000'000);
  EXPECT_EQ(pool->large_bytes_in_use(), 1024u * 1024u);
  EXPECT_EQ(pool->bytes_in_use() - before, 128u + 768u + 1024u * 1024u);
  SlabPool::release(small, pool);
  EXPECT_EQ(pool->bytes_in_use() - before, 768u + 1024u * 1024u);
  std::thread([=] {
    SlabPool::release(other, nullptr);
    SlabPool::release(large, nullptr);
  }).join();
  EXPECT_EQ(pool->bytes_in_use() - before, 768u);  // until the owner takes it back
  pool->collect();
  EXPECT_EQ(pool->bytes_in_use(), before);
  pool->retire();
}

TEST(SlabPool, BlocksAreAlignedDistinctAndWholly) {
  SlabPool* pool = SlabPool::acquire();
  struct Block {
    unsigned char* memory;
    size_t bytes;
  };
  std::vector<Block> blocks;
  for (size_t bytes : {1u, 64u, 65u, 500u, 512u, 513u, 1024u, 5000u, 16384u, 16385u, 70000u, 1000000u}) {
    for (int i = 0; i < 40; ++i) blocks.push_back({static_cast<unsigned char*>(pool->allocate(bytes)), bytes});
  }
  unsigned char mark = 0;
  for (const Block& block : blocks) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block.memory) % 64, 0u);
    memset(block.memory, ++mark, block.bytes);
  }
  mark = 0;
  for (const Block& block : blocks) EXPECT_TRUE(filled_with(block.memory, ++mark, block.bytes)) << block.bytes;
  for (const Block& block : blocks) SlabPool::release(block.memory, pool);
  pool->retire();
}

TEST(SlabPool, OwnBlocksComeBackFirst) {
  SlabPool* pool = SlabPool::acquire();
  void* first = pool->allocate(200);
  void* second = pool->allocate(200);
  SlabPool::release(first, pool);
  SlabPool::release(second, pool);
  EXPECT_EQ(pool->allocate(256), second);  // the same class, newest first: it is in the cache
  EXPECT_EQ(pool->allocate(193), first);
  SlabPool::release(first, pool);
  SlabPool::release(second, pool);
  pool->retire();
}

TEST(SlabPool, RemoteReleasesAreHeldBackOnlyWithinBounds) {
  SlabPool* owner = SlabPool::acquire();
  SlabPool* other = SlabPool::acquire();
  std::set<void*> given;
  std::vector<void*> blocks;
  for (int i = 0; i < 100; ++i) blocks.push_back(owner->allocate(128));
  const size_t before = owner->mapped_bytes();
  for (void* block : blocks) {
    given.insert(block);
    SlabPool::release(block, other);
  }
  // 96 of 100 have left in chains of 32; the flush sends the rest.
  int known = 0;
  for (int i = 0; i < 96; ++i) known += given.count(owner->allocate(128)) != 0 ? 1 : 0;
  EXPECT_EQ(known, 96);
  EXPECT_EQ(given.count(owner->allocate(128)), 0u);
  other->flush_remote();
  for (int i = 0; i < 4; ++i) known += given.count(owner->allocate(128)) != 0 ? 1 : 0;
  EXPECT_EQ(known, 100);
  EXPECT_EQ(owner->mapped_bytes(), before);
  other->retire();
  owner->retire();
}

TEST(SlabPool, AThreadWithoutPoolReleasesAtOnce) {
  SlabPool* owner = SlabPool::acquire();
  void* block = owner->allocate(4096);
  SlabPool::release(block, nullptr);
  void* large = owner->allocate(1 << 20);
  SlabPool::release(large, nullptr);
  EXPECT_EQ(owner->allocate(4096), block);
  owner->retire();
}

// Whichever thread releases it, the pool that allocated it gets it again, in its own size.
TEST(SlabPool, ALargeMappingIsUsedAgain) {
  if (MARLINE_ASAN) GTEST_SKIP() << "under AddressSanitizer a mapping goes at once, so that its use is seen";
  SlabPool* owner = SlabPool::acquire();
  SlabPool* other = SlabPool::acquire();
  void* block = owner->allocate(30'000);
  memset(block, 1, 30'000);
  SlabPool::release(block, other);
  EXPECT_EQ(owner->large_bytes_in_use(), 0u);
  EXPECT_NE(other->allocate(30'000), block);
  EXPECT_NE(owner->allocate(70'000), block);
  EXPECT_EQ(owner->allocate(20'000), block);
  EXPECT_EQ(owner->large_bytes_in_use(), 3 * SlabPool::kSlabBytes);
  other->retire();
  owner->retire();
}

TEST(SlabPool, IdleMeansThatLargeMappingsGo) {
  if (MARLINE_ASAN) GTEST_SKIP() << "under AddressSanitizer a mapping goes at once, so that its use is seen";
  SlabPool* owner = SlabPool::acquire();
  std::vector<void*> blocks;
  for (int i = 0; i < 16; ++i) blocks.push_back(owner->allocate(1 << 20));
  for (void* block : blocks) SlabPool::release(block, owner);
  EXPECT_GT(LargeCache::cached_bytes(), LargeCache::kMostWhileIdle);
  while (SlabPool::shrink()) {
  }
  EXPECT_LE(LargeCache::cached_bytes(), LargeCache::kMostWhileIdle);
  EXPECT_GT(LargeCache::cached_bytes(), 0u);
  owner->retire();
}

TEST(SlabPool, ARetiredPoolIsAdoptedWithItsLivingBlocks) {
  SlabPool* first = SlabPool::acquire();
  void* living = first->allocate(300);
  memset(living, 0x5a, 300);
  first->retire();
  SlabPool* second = SlabPool::acquire();
  EXPECT_EQ(second, first);
  void* next = second->allocate(300);
  EXPECT_NE(next, living);
  EXPECT_TRUE(filled_with(living, 0x5a, 300));
  SlabPool::release(living, second);
  EXPECT_EQ(second->allocate(300), living);
  second->retire();
}

// Every worker allocates, hands blocks to the others and releases what it is handed, in sizes of several classes. Each
// block carries its address and a check word over its whole length: two owners of one block would see each other.
class Exchange {
 public:
  explicit Exchange(int workers) : boxes_(static_cast<size_t>(workers)) {}

  void put(size_t box, uint64_t* block) {
    Guard guard(boxes_[box].lock);
    boxes_[box].blocks.push_back(block);
  }
  std::vector<uint64_t*> take(size_t box) {
    Guard guard(boxes_[box].lock);
    return std::exchange(boxes_[box].blocks, {});
  }

 private:
  struct Box {
    SpinLock lock;
    std::vector<uint64_t*> blocks;
  };
  std::vector<Box> boxes_;
};

void fill(uint64_t* block, size_t words) {
  block[0] = words;
  for (size_t i = 1; i < words; ++i) block[i] = reinterpret_cast<uint64_t>(block) + i;
}

bool check(const uint64_t* block) {
  for (size_t i = 1; i < block[0]; ++i) {
    if (block[i] != reinterpret_cast<uint64_t>(block) + i) return false;
  }
  return true;
}

TEST(SlabPool, StressExchangesBlocksInBoundedMemory) {
  constexpr int kWorkers = 6;
  constexpr int kRounds = 400;
  constexpr int kBurst = 50;
  constexpr size_t kLockstep = 20;  // rounds that one worker may be ahead of another
  constexpr size_t kWords[] = {8, 24, 40, 100, 300};
  Exchange exchange(kWorkers);
  Atomic<int> broken{0};
  Atomic<size_t> mapped{0};
  std::barrier lockstep(kWorkers);
  std::vector<std::thread> threads;
  for (size_t me = 0; me < kWorkers; ++me) {
    threads.emplace_back([&, me] {
      SlabPool* pool = SlabPool::acquire();
      for (size_t round = 0; round < kRounds; ++round) {
        for (size_t i = 0; i < kBurst; ++i) {
          const size_t words = kWords[(round + i) % std::size(kWords)];
          auto* block = static_cast<uint64_t*>(pool->allocate(words * sizeof(uint64_t)));
          fill(block, words);
          exchange.put((me + i) % kWorkers, block);
        }
        for (uint64_t* block : exchange.take(me)) {
          broken.fetch_add(check(block) ? 0 : 1);
          SlabPool::release(block, round % 7 == 0 ? nullptr : pool);
        }
        if (round % kLockstep == 0) {
          pool->flush_remote();
          lockstep.arrive_and_wait();
        }
      }
      mapped.fetch_add(pool->mapped_bytes());
      pool->retire();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(broken.load(), 0);
  // 120,000 blocks of 0.7 KiB on average passed, 90 MB if none came back. At most kLockstep * kBurst blocks per worker
  // are alive, 4.5 MB; the rest of the allowance is for blocks on their way and for each worker's uncut memory.
  EXPECT_LT(mapped.load(), 20u * 1024 * 1024);
  SlabPool* pool = SlabPool::acquire();
  for (size_t box = 0; box < kWorkers; ++box) {
    for (uint64_t* block : exchange.take(box)) {
      EXPECT_TRUE(check(block));
      SlabPool::release(block, pool);
    }
  }
  pool->retire();
}

#if MARLINE_ASAN
TEST(SlabPoolDeathTest, UseAfterReleaseIsSeen) {
  SlabPool* pool = SlabPool::acquire();
  auto* block = static_cast<volatile char*>(pool->allocate(100));
  SlabPool::release(const_cast<char*>(block), pool);
  EXPECT_DEATH(block[50] = 1, "use-after-poison");
  pool->retire();
}
#endif

}  // namespace
}  // namespace marline
