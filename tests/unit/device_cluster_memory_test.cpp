// SPDX-License-Identifier: Apache-2.0
//
// The buffers of a cluster and the pointers between them.
#include "device/cluster/head/memory.hpp"

#include <gtest/gtest.h>

namespace marline::offload::device {
namespace {

constexpr uint64_t kBegin = 1ull << 40, kBytes = 1ull << 30;
const auto has_no_copies = [](uint64_t) { return false; };

void release(ClusterMemory& memory, ClusterBuffer* buffer) {
  List<Operation*> waiters;
  memory.release(buffer);
  memory.forget_gone(has_no_copies, waiters);
}

TEST(ClusterMemory, APointerIsNewOnce) {
  ClusterMemory memory;
  memory.open(kBegin, kBytes, kBytes);
  ClusterBuffer* holder = memory.allocate(64);
  ClusterBuffer* pointee = memory.allocate(64);
  const uint64_t before = memory.changes();
  EXPECT_EQ(memory.note_pointer(*holder, pointee->begin), pointee);
  EXPECT_EQ(memory.changes(), before + 1);
  EXPECT_EQ(memory.note_pointer(*holder, pointee->begin + 8), nullptr);  // into the same buffer
  EXPECT_EQ(memory.changes(), before + 1);
  EXPECT_EQ(memory.note_pointer(*holder, 8), nullptr);  // into no buffer
  EXPECT_EQ(memory.changes(), before + 1);
}

// Tasks that were recorded without the new buffer must not be repeated as they are.
TEST(ClusterMemory, APointerToANewBufferAtTheAddressOfAReleasedOneIsNew) {
  ClusterMemory memory;
  memory.open(kBegin, kBytes, kBytes);
  ClusterBuffer* holder = memory.allocate(64);
  ClusterBuffer* released = memory.allocate(64);
  const uint64_t address = released->begin;
  (void)memory.note_pointer(*holder, address);
  release(memory, released);
  ClusterBuffer* taker = memory.allocate(64);
  ASSERT_EQ(taker->begin, address);
  const uint64_t before = memory.changes();
  EXPECT_EQ(memory.note_pointer(*holder, address), taker);
  EXPECT_EQ(memory.changes(), before + 1);
  EXPECT_EQ(memory.note_pointer(*holder, address), nullptr);
}

}  // namespace
}  // namespace marline::offload::device
