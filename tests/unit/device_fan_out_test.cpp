// SPDX-License-Identifier: Apache-2.0
//
// FanOut chooses the device from which each device takes the parts of a copy. The test runs it on a made-up wire: the
// parts of one copy leave and arrive in order, the parts of different copies in an order that a seed draws. A worker
// passes on the parts that it has.
#include "device/remote/program/fan_out.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace marline::offload::device {
namespace {

constexpr uint64_t kMiB = 1 << 20;

struct TestCopy : FanOutCopy {
  bool has_ended = false;
  std::deque<uint64_t> leaving;  // ends of parts
  std::deque<FanOutPart> under_way;
  uint64_t bytes_sent = 0, bytes_gone = 0, bytes_there = 0, bytes_told = 0;
};

// Nodes of `devices_per_node` workers; the program is alone on node 0. Peer p is on node (p - 1) / devices_per_node
// + 1. `gpus`: which places are GPUs.
class World {
 public:
  explicit World(int devices_per_node, std::set<int> gpus = {})
      : devices_per_node_(devices_per_node), gpus_(std::move(gpus)) {}

  bool is_gpu(int place) const { return gpus_.count(place) != 0; }
  int node_of(int place) const { return place == 0 ? 0 : (place - 1) / devices_per_node_ + 1; }

  TestCopy* join(int place, uint64_t bytes, int from = 0, uint64_t address = 0x1000) {
    auto* copy = copies.emplace_back(std::make_unique<TestCopy>()).get();
    copy->source = {from, node_of(from), address, bytes, is_gpu(from)};
    copy->is_gpu = is_gpu(place);
    copy->place = place;
    copy->node = node_of(place);
    fan_out.join(copy);
    return copy;
  }

  TestCopy* begin(int place, uint64_t bytes, int from = 0, uint64_t address = 0x1000) {
    TestCopy* copy = join(place, bytes, from, address);
    fan_out.open(copy);
    send();
    return copy;
  }

  void send() {
    FanOutPart part;
    while (fan_out.next_part(part)) check_and_send(part);
  }

  // Makes one of the possible events happen, chosen by `choice`. False: nothing is in flight.
  bool step(unsigned choice) {
    std::vector<TestCopy*> leaving, arriving;
    for (const auto& copy : copies) {
      if (!copy->leaving.empty()) leaving.push_back(copy.get());
      if (can_arrive(*copy)) arriving.push_back(copy.get());
    }
    if (leaving.empty() && arriving.empty()) return false;
    size_t at = choice % (leaving.size() + arriving.size());
    if (at < leaving.size()) {
      leave(leaving[at]);
    } else {
      arrive(arriving[at - leaving.size()]);
    }
    return true;
  }

  static bool can_arrive(const TestCopy& copy) {
    if (copy.under_way.empty()) return false;
    const FanOutPart& part = copy.under_way.front();
    auto* from = static_cast<const TestCopy*>(copy.from);
    return from == nullptr || from->bytes_there >= part.offset + part.bytes;
  }

  void leave(TestCopy* copy) {
    copy->bytes_gone = copy->leaving.front();
    copy->leaving.pop_front();
    note(fan_out.go(copy));
  }

  void arrive(TestCopy* copy) {
    FanOutPart part = copy->under_way.front();
    copy->under_way.pop_front();
    copy->bytes_there += part.bytes;
    if (!part.is_answered) return;
    copy->bytes_told += part.bytes;
    note(fan_out.arrive(copy));
  }

  FanOut fan_out;
  std::vector<std::unique_ptr<TestCopy>> copies;
  std::map<int, uint64_t> came_to_node;  // from other nodes
  std::map<int, uint64_t> left_node;
  std::map<int, uint64_t> left_place;

 private:
  void note(FanOutCopy* ended) {
    while (ended != nullptr) {
      auto* copy = static_cast<TestCopy*>(ended);
      ended = ended->next;
      EXPECT_FALSE(copy->has_ended);
      bool is_programs = copy->from == nullptr && copy->source.place == 0;
      EXPECT_TRUE(!is_programs || copy->bytes_gone == copy->source.bytes);
      EXPECT_TRUE((is_programs && !copy->is_gpu) || copy->bytes_there == copy->source.bytes);
      for (const FanOutPart& part : copy->under_way)
        EXPECT_FALSE(part.is_answered) << "the storage is the program's again";
      copy->has_ended = true;
    }
    send();
  }

  void check_and_send(const FanOutPart& part) {
    auto* copy = static_cast<TestCopy*>(part.copy);
    auto* from = static_cast<TestCopy*>(copy->from);
    ASSERT_FALSE(copy->has_ended);
    ASSERT_EQ(part.offset, copy->bytes_sent) << "parts are sent in order, each once";
    ASSERT_LE(part.offset + part.bytes, copy->source.bytes);
    ASSERT_EQ(part.is_from_program, from == nullptr && copy->source.place == 0);
    if (part.is_from_program) {
      ASSERT_LT(copy->under_way.size(), FanOut::kMostUnderWay);
      copy->leaving.push_back(part.offset + part.bytes);
    }
    if (from != nullptr) {
      ASSERT_FALSE(from->has_ended) << "the program may change it";
      ASSERT_LE(part.offset + part.bytes, from->is_gpu ? from->bytes_told : from->bytes_sent);
    }
    if (copy->is_gpu || is_gpu(from != nullptr ? from->place : copy->source.place)) {
      ASSERT_LT(copy->under_way.size(), FanOut::kMostUnderWay) << "each takes memory of a worker";
    }
    copy->bytes_sent += part.bytes;
    copy->under_way.push_back(part);
    int sender = from != nullptr ? from->place : copy->source.place;
    left_place[sender] += part.bytes;
    if (node_of(sender) == copy->node) return;
    left_node[node_of(sender)] += part.bytes;
    came_to_node[copy->node] += part.bytes;
  }

  int devices_per_node_;
  std::set<int> gpus_;
};

void run(World& world, unsigned seed) {
  std::mt19937 random(seed);
  while (world.step(static_cast<unsigned>(random()))) {
  }
  for (const auto& copy : world.copies) {
    EXPECT_TRUE(copy->has_ended);
    EXPECT_EQ(copy->bytes_there, copy->source.bytes);
  }
  EXPECT_TRUE(world.fan_out.is_empty());
}

TEST(FanOut, EachByteCrossesTheNetworkOncePerNode) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    World world(4);
    for (int place = 1; place <= 16; ++place) world.begin(place, 64 * kMiB);
    run(world, seed);
    for (int node = 1; node <= 4; ++node) EXPECT_EQ(world.came_to_node[node], 64 * kMiB);
    for (auto [node, bytes] : world.left_node) EXPECT_LE(bytes, 64 * kMiB) << "node " << node;
    for (auto [place, bytes] : world.left_place) EXPECT_LE(bytes, 128 * kMiB) << "place " << place;
  }
}

TEST(FanOut, GpusTakePartInTheChain) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    World world(4, {2, 3, 4, 5, 7, 10, 12, 16});
    for (int place = 1; place <= 16; ++place) world.begin(place, 64 * kMiB);
    run(world, seed);
    for (int node = 1; node <= 4; ++node) EXPECT_EQ(world.came_to_node[node], 64 * kMiB);
  }
}

TEST(FanOut, NothingComesBackToTheNodeOfADevice) {
  World world(4);
  for (int place : {5, 2, 9, 3, 10, 6, 4}) world.begin(place, 8 * kMiB, 1);
  run(world, 1);
  EXPECT_EQ(world.came_to_node.count(1), 0u);
  EXPECT_EQ(world.came_to_node[2], 8 * kMiB);
  EXPECT_EQ(world.came_to_node[3], 8 * kMiB);
  EXPECT_EQ(world.left_node[1], 8 * kMiB);
}

TEST(FanOut, OtherBytesAreNotShared) {
  World world(1);
  world.begin(1, 2 * kMiB);
  EXPECT_EQ(world.begin(2, 2 * kMiB - 1)->from, nullptr);
  EXPECT_EQ(world.begin(3, 2 * kMiB, 0, 0x1001)->from, nullptr) << "overlaps only";
  EXPECT_EQ(world.begin(4, 2 * kMiB, 1)->from, nullptr) << "the same address of another process";
  EXPECT_NE(world.begin(5, 2 * kMiB)->from, nullptr);
  run(world, 1);
}

TEST(FanOut, ACopyThatIsThroughGetsNoFollowers) {
  World world(1);
  TestCopy* first = world.begin(1, 600 << 10);
  TestCopy* second = world.begin(2, 600 << 10);
  ASSERT_EQ(second->from, first);
  while (first->bytes_gone < first->source.bytes) world.leave(first);
  EXPECT_FALSE(first->has_ended) << "its follower still reads";
  EXPECT_EQ(world.begin(3, 600 << 10)->from, second);
  run(world, 1);
}

TEST(FanOut, ACopyCanBeFollowedWhileItsBytesAreOnTheirWay) {
  World world(1);
  TestCopy* first = world.begin(1, 64 * kMiB);
  while (!first->leaving.empty()) world.leave(first);  // the wire sends all parts that it has
  EXPECT_FALSE(first->has_ended);
  EXPECT_EQ(world.begin(2, 64 * kMiB)->from, first);
  run(world, 1);
}

TEST(FanOut, ACommandComesRightBehindItsPart) {
  World world(1);
  TestCopy* first = world.begin(1, 64 * kMiB);
  TestCopy* second = world.begin(2, 64 * kMiB);
  for (int i = 0; i < 40; ++i) {
    while (!first->leaving.empty()) world.leave(first);
    EXPECT_EQ(second->sent, first->sent);
    world.arrive(first);
  }
  run(world, 1);
}

TEST(FanOut, AFollowerThatIsNotOpenHoldsItsPredecessor) {
  World world(1);
  TestCopy* first = world.begin(1, kMiB);
  TestCopy* second = world.join(2, kMiB);
  while (world.step(0)) {
  }
  EXPECT_EQ(first->bytes_there, kMiB);
  EXPECT_FALSE(first->has_ended);
  EXPECT_EQ(second->sent, 0u);
  world.fan_out.open(second);
  world.send();
  run(world, 1);
}

TEST(FanOut, PartsAreSmallAgainstTheWhole) {
  for (uint64_t bytes : {uint64_t{1}, uint64_t{256} << 10, 5 * kMiB + 1, 64 * kMiB, 4096 * kMiB}) {
    uint64_t part = FanOut::part_of({0, 0, 0, bytes});
    EXPECT_GE(part, uint64_t{256} << 10);
    EXPECT_LE(part, kMiB);
    EXPECT_TRUE(part == uint64_t{256} << 10 || part * 64 <= bytes) << bytes;
  }
}

// Copies of a few sources to any device begin at any time, also to a device that has had the bytes before. Each copy
// ends, and every byte arrives once.
TEST(FanOut, CopiesBeginAtAnyTime) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    std::set<int> gpus;
    for (int place = 1; place <= 13; ++place) {
      if (random() % 4 < seed % 3) gpus.insert(place);
    }
    World world(static_cast<int>(random() % 4 + 1), gpus);
    std::vector<TestCopy*> closed;
    for (int begun = 0; begun < 60;) {
      if (random() % 4 == 0) {
        int from = random() % 2 == 0 ? 0 : 13, place = static_cast<int>(random() % 12) + 1;
        TestCopy* copy = world.join(place, (random() % 3 + 1) * kMiB, from, random() % 2);
        closed.push_back(copy);
        ++begun;
      }
      if (!closed.empty() && random() % 2 == 0) {
        std::swap(closed[random() % closed.size()], closed.back());
        world.fan_out.open(closed.back());
        closed.pop_back();
        world.send();
      }
      (void)world.step(static_cast<unsigned>(random()));
    }
    for (TestCopy* copy : closed) world.fan_out.open(copy);
    world.send();
    run(world, seed);
    ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace marline::offload::device
