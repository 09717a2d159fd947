// SPDX-License-Identifier: Apache-2.0
//
// The chain of blocks in use goes from Team::blocks.oldest to the block of the thread that is furthest ahead. Threads
// pass the blocks in order, so the oldest one is the first that all have passed.
#include "exec/team/workshare_blocks.hpp"

#include "base/check.hpp"

#include <cstdlib>
#include <new>

namespace marline {

namespace {

// So many unused blocks are kept for the threads that are ahead next time; memory of more is freed.
constexpr int kMostUnused = 16;

// A block, then the reserves of the team's members.
WorkshareBlock* make_block(const Team* team) {
  const size_t reserves = static_cast<size_t>(team->capacity) * kWorkshares;
  void* memory = std::aligned_alloc(kCacheLine, sizeof(WorkshareBlock) + reserves * sizeof(Atomic<uint64_t>));
  if (memory == nullptr) fatal("no memory for the worksharing constructs of a team of %d threads", team->size);
  auto* block = new (memory) WorkshareBlock;
  block->reserves = reinterpret_cast<Atomic<uint64_t>*>(block + 1);
  for (size_t i = 0; i < reserves; ++i) new (&block->reserves[i]) Atomic<uint64_t>(0);
  return block;
}

WorkshareBlock* take_block(Team* team) {
  WorkshareBlock* block = team->blocks.unused;
  if (block == nullptr) return make_block(team);
  team->blocks.unused = block->next;
  --team->blocks.unused_count;
  block->next = nullptr;
  return block;
}

void give_back(Team* team, WorkshareBlock* block) {
  if (team->blocks.unused_count == kMostUnused) return std::free(block);
  block->passed = 0;
  block->next = team->blocks.unused;
  team->blocks.unused = block;
  ++team->blocks.unused_count;
}

void end_constructs(WorkshareBlock* block) {
  block->passed = 0;
  for (Workshare& shared : block->shares) {
    std::free(shared.memory);
    shared.memory = nullptr;
    shared.left.store(0, relaxed);
  }
}

}  // namespace

WorkshareBlock* enter_next_block(Member* member) {
  Team* team = member->team;
  WorkshareBlock* passed = member->block;
  if (passed != nullptr && team->size == 1) return passed;
  Guard<SpinLock> guard(team->blocks.lock);
  WorkshareBlock*& link = passed != nullptr ? passed->next : team->blocks.oldest;
  if (link == nullptr) link = take_block(team);
  WorkshareBlock* next = link;
  if (passed != nullptr && ++passed->passed == team->size) {
    team->blocks.oldest = next;
    give_back(team, passed);
  }
  return next;
}

void end_workshare_blocks(Team* team, const Member* last) {
  for (WorkshareBlock *block = team->blocks.oldest, *next; block != nullptr; block = next) {
    next = block->next;
    end_constructs(block);
    if (block != last->block) give_back(team, block);
  }
  team->blocks.oldest = last->block;
}

}  // namespace marline
