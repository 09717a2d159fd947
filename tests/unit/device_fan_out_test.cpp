// SPDX-License-Identifier: Apache-2.0
//
// Which device takes the parts of a copy from which one: FanOut on a made-up wire, on which the parts of different copies
// arrive in an order that a seed draws, and those of one copy in order.
#include "device/node/fan_out.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <vector>

namespace marline::target {
namespace {

constexpr uint64_t kMiB = 1 << 20;

struct TestCopy : FanOutCopy {
  size_t number = 0;
  bool has_ended = false;
  uint64_t bytes_there = 0;
};

// Nodes of `devices_per_node` workers; the program is alone on node 0. Peer p is on node (p - 1) / devices_per_node + 1.
class World {
 public:
  explicit World(int devices_per_node) : devices_per_node_(devices_per_node) {}

  int node_of(int place) const { return place == 0 ? 0 : (place - 1) / devices_per_node_ + 1; }

  TestCopy* join(int place, uint64_t bytes, int from = 0, uint64_t address = 0x1000) {
    auto* copy = copies.emplace_back(std::make_unique<TestCopy>()).get();
    copy->number = copies.size() - 1;
    copy->source = {from, node_of(from), address, bytes};
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

  // One part arrives, of a copy that `choice` chooses. False: none is under way.
  bool arrive(unsigned choice) {
    if (under_way.empty()) return false;
    auto at = std::next(under_way.begin(), choice % under_way.size());
    TestCopy* copy = copies[at->first].get();
    copy->bytes_there += at->second.front();
    at->second.pop_front();
    if (at->second.empty()) under_way.erase(at);
    for (FanOutCopy* ended = fan_out.arrive(copy); ended != nullptr;) {
      auto* mine = static_cast<TestCopy*>(ended);
      ended = ended->next;
      EXPECT_FALSE(mine->has_ended);
      EXPECT_EQ(mine->bytes_there, mine->source.bytes);
      mine->has_ended = true;
    }
    send();
    return true;
  }

  FanOut fan_out;
  std::vector<std::unique_ptr<TestCopy>> copies;
  std::map<size_t, std::deque<uint64_t>> under_way;  // by the copy's number; bytes of the parts
  std::map<int, uint64_t> came_to_node;                 // from other nodes
  std::map<int, uint64_t> left_node;
  std::map<int, uint64_t> left_place;

 private:
  void check_and_send(const FanOutPart& part) {
    auto* copy = static_cast<TestCopy*>(part.copy);
    auto* from = static_cast<TestCopy*>(copy->from);
    ASSERT_FALSE(copy->has_ended);
    uint64_t on_the_way = 0;
    for (uint64_t bytes : under_way[copy->number]) on_the_way += bytes;
    if (from == nullptr && copy->source.peer == 0) ASSERT_LT(under_way[copy->number].size(), FanOut::kMostUnderWay);
    ASSERT_EQ(part.offset, copy->bytes_there + on_the_way) << "parts are sent in order, each once";
    ASSERT_LE(part.offset + part.bytes, copy->source.bytes);
    if (from != nullptr) {
      ASSERT_FALSE(from->has_ended) << "the program may change it";
      ASSERT_LE(part.offset + part.bytes, from->bytes_there) << "a device passes on what it has";
    }
    under_way[copy->number].push_back(part.bytes);
    int sender = from != nullptr ? from->place : copy->source.place;
    left_place[sender] += part.bytes;
    if (node_of(sender) == copy->node) return;
    left_node[node_of(sender)] += part.bytes;
    came_to_node[copy->node] += part.bytes;
  }

  int devices_per_node_;
};

void run(World& world, unsigned seed) {
  std::mt19937 random(seed);
  while (world.arrive(static_cast<unsigned>(random()))) {
  }
  for (const auto& copy : world.copies) EXPECT_TRUE(copy->has_ended);
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

TEST(FanOut, ACopyThatIsThereGetsNoFollowers) {
  World world(1);
  TestCopy* first = world.begin(1, 300 << 10);
  TestCopy* second = world.begin(2, 300 << 10);
  ASSERT_EQ(second->from, first);
  while (first->bytes_there < first->source.bytes) {
    ASSERT_TRUE(world.arrive(0));  // the copy with the lowest number
  }
  EXPECT_FALSE(first->has_ended) << "its follower still reads";
  EXPECT_EQ(world.begin(3, 300 << 10)->from, second);
  run(world, 1);
}

TEST(FanOut, AFollowerThatIsNotOpenHoldsItsPredecessor) {
  World world(1);
  TestCopy* first = world.begin(1, kMiB);
  TestCopy* second = world.join(2, kMiB);
  while (world.arrive(0)) {
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
    uint64_t part = FanOut::part_of(bytes);
    EXPECT_GE(part, uint64_t{128} << 10);
    EXPECT_LE(part, kMiB);
    EXPECT_TRUE(part == uint64_t{128} << 10 || part * 63 <= bytes) << bytes;
  }
}

// Copies of a few sources to any device begin at any time, also again to one that has had the bytes; each ends, and brings
// every byte once.
TEST(FanOut, CopiesBeginAtAnyTime) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    World world(static_cast<int>(random() % 4 + 1));
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
      world.arrive(static_cast<unsigned>(random()));
    }
    for (TestCopy* copy : closed) world.fan_out.open(copy);
    world.send();
    run(world, seed);
    ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace marline::target
