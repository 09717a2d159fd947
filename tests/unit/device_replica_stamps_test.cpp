// SPDX-License-Identifier: Apache-2.0
//
// The stamps of the bytes in a cluster's copies of one buffer, for blocks with many stamps and for chunks that are on a
// GPU as a whole or in parts.
#include "replica_copies.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace {

using namespace marline::offload;
using namespace marline::offload::device;

// Two copies in turn write some bytes of few blocks, and take newer bytes from each other. A block would have more
// stamps than bytes if unused stamps were kept.
void write_in_turns(Run run) {
  constexpr size_t kBytes = 300;
  struct Known {
    std::vector<char> bytes = std::vector<char>(kBytes);
    std::vector<uint64_t> stamps = std::vector<uint64_t>(kBytes);
  };
  std::mt19937 random(static_cast<unsigned>(run));
  Copy copies[] = {Copy(kBytes, run), Copy(kBytes, run)};
  Known known[2];
  ClusterRange whole = {1, 0, kBytes};
  PointerSink sink = {kBegin, kEnd, {}};
  for (uint64_t stamp = 1; stamp <= 2000; ++stamp) {
    size_t writer = random() % 2, other = 1 - writer;
    Copy& copy = copies[writer];
    if (run == Run::kGpu) copy.replica.bring(whole, true);
    size_t step = 1 + random() % 64;  // sometimes few bytes, sometimes all
    for (size_t i = random() % step; i < kBytes; i += step) {
      copy.tasks()[i] = ++known[writer].bytes[i];
      known[writer].stamps[i] = stamp;
    }
    if (run == Run::kGpu) {
      copy.replica.compare_on_gpu(whole, stamp, Replica::kNotSole, false, sink);
    } else {
      copy.replica.compare(whole, stamp, Replica::kNotSole, sink);
    }
    if (random() % 4 != 0) continue;
    Sent::delta(copy, whole, 0).arrive(copies[other]);
    for (size_t i = 0; i < kBytes; ++i) {
      if (known[writer].stamps[i] <= known[other].stamps[i]) continue;
      known[other].bytes[i] = known[writer].bytes[i];
      known[other].stamps[i] = known[writer].stamps[i];
    }
    ASSERT_EQ(copies[other].twin, known[other].bytes) << "behind stamp " << stamp;
    ASSERT_EQ(copy.twin, known[writer].bytes) << "behind stamp " << stamp;
  }
}

TEST(Replica, ManyStampsInABlock) {
  write_in_turns(Run::kDiff);
  write_in_turns(Run::kGpu);
}

// Each byte of a block is written with a stamp of its own, and then some once more.
TEST(Replica, AsManyStampsAsBytes) {
  constexpr size_t kBytes = 256;
  Copy copies[] = {Copy(kBytes, Run::kGpu), Copy(kBytes, Run::kGpu)};
  std::vector<char> expected(kBytes);
  ClusterRange whole = {1, 0, kBytes};
  PointerSink sink = {kBegin, kEnd, {}};
  for (uint64_t stamp = 1; stamp <= kBytes + 50; ++stamp) {
    copies[0].replica.bring(whole, true);
    size_t at = stamp * 7 % kBytes;
    copies[0].tasks()[at] = ++expected[at];
    copies[0].replica.compare_on_gpu(whole, stamp, Replica::kNotSole, false, sink);
  }
  Sent::delta(copies[0], whole, 0).arrive(copies[1]);
  EXPECT_EQ(copies[0].twin, expected);
  EXPECT_EQ(copies[1].twin, expected);
}

// Tasks leave some chunks as a whole and some in part on the home's GPU. Tasks of another node write the bytes beside
// them.
TEST(Replica, ChunksAreLeftAsAWholeAndInParts) {
  constexpr size_t kBytes = (5 << 19) + 1000;
  std::mt19937 random(1);
  Copy copies[] = {Copy(kBytes, Run::kGpu), Copy(kBytes, Run::kGpu)};
  std::vector<char> expected(kBytes);
  ClusterRange whole = {1, 0, kBytes};
  PointerSink sink = {kBegin, kEnd, {}};
  for (uint64_t stamp = 1; stamp <= 150; ++stamp) {
    size_t writer = random() % 3 == 0;
    Copy& copy = copies[writer];
    uint64_t begin = random() % 2 * (random() % kBytes);
    uint64_t end = random() % 2 != 0 ? kBytes : begin + random() % (kBytes - begin);
    ClusterRange range = {1, begin, end - begin};
    copy.replica.bring(range, true);
    for (size_t i = begin / 2 * 2 + 2 + writer; i < end; i += 2 * (1 + random() % 500)) copy.gpu[i] = ++expected[i];
    copy.replica.compare_on_gpu(range, stamp, Replica::kNotSole, writer == 0, sink);
    if (random() % 5 != 0) continue;
    Sent::delta(copies[0], whole, 0).arrive(copies[1]);
    Sent::delta(copies[1], whole, 0).arrive(copies[0]);
    for (Copy& each : copies) {
      ASSERT_EQ(each.twin, expected) << "behind stamp " << stamp;
      each.replica.bring(whole, false);
      ASSERT_EQ(each.gpu, expected) << "behind stamp " << stamp;
    }
  }
}

// A postponed comparison covers the whole chunk, whatever part of it is requested: after that, all of its blocks have
// been sent once.
TEST(Replica, WhatWasPostponedIsSentOnce) {
  constexpr uint64_t kBytes = 100'000;
  Copy home(kBytes), other(kBytes);
  ClusterRange whole = {1, 0, kBytes}, part = {1, 50'000, 10};
  std::memset(home.data.data(), 1, kBytes);
  List<ClusterRange> left;
  home.replica.postpone(whole, 1, Replica::version(), kPostponedSink, left);
  EXPECT_TRUE(left.is_empty());
  Sent first = Sent::answer(1, home, other, part), second = Sent::answer(1, home, other, whole);
  EXPECT_TRUE(first.count() > 0 && first.count() < 1000) << first.count();
  EXPECT_GT(second.count(), kBytes);
  EXPECT_EQ(Sent::answer(1, home, other, whole).count(), 0u);
  first.arrive(other);
  second.arrive(other);
  EXPECT_EQ(std::memcmp(home.data.data(), other.data.data(), kBytes), 0);
}

// The chunk is requested again and again: then the task compares at once, because its threads do that together.
TEST(Replica, WhatIsAskedForIsNotPostponedAgain) {
  constexpr uint64_t kBytes = 3 * Replica::kChunk + 1000;
  Copy copy(kBytes);
  Replica::most_at_once = 1;
  ClusterRange whole = {1, 0, kBytes}, inside = {1, 10, kBytes - 10};
  List<ClusterRange> left, none, again;
  copy.replica.postpone(inside, 1, Replica::version(), kPostponedSink, left);
  ASSERT_EQ(left.count(), 1U);
  bool is_begin = left[0].offset == 10 && left[0].end() == Replica::kChunk;  // the task does not have all of the chunk
  EXPECT_TRUE(is_begin) << left[0].offset << ", " << left[0].bytes;
  BlobWriter blob;
  copy.replica.pack({1, 2 * Replica::kChunk, 1}, 0, blob);
  left.clear();
  copy.replica.postpone(whole, 2, Replica::version(), kPostponedSink, left);
  ASSERT_EQ(left.count(), 1U);
  EXPECT_TRUE(left[0].offset == 2 * Replica::kChunk && left[0].bytes == Replica::kChunk);
  copy.replica.postpone(whole, 3, Replica::version(), kPostponedSink, again);
  EXPECT_TRUE(again.is_empty());
}

}  // namespace
