// SPDX-License-Identifier: Apache-2.0
//
// base/intrusive.hpp: Fifo order; MpscStack under concurrent pushers and takers: nothing lost, nothing twice.
#include "base/intrusive.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace marline {
namespace {

struct Node {
  int value = 0;
  Node* next = nullptr;
};
using NodeFifo = Fifo<Node, &Node::next>;
using NodeStack = MpscStack<Node, &Node::next>;

std::vector<int> drain(NodeFifo& fifo) {
  std::vector<int> values;
  while (Node* node = fifo.pop_front()) values.push_back(node->value);
  return values;
}

TEST(Fifo, KeepsOrderAtBothEnds) {
  Node nodes[5];
  for (int i = 0; i < 5; ++i) nodes[i].value = i;
  NodeFifo fifo;
  EXPECT_TRUE(fifo.empty());
  EXPECT_EQ(fifo.pop_front(), nullptr);
  fifo.push_front(&nodes[1]);
  fifo.push_back(&nodes[2]);
  fifo.push_front(&nodes[0]);
  fifo.push_back(&nodes[3]);
  EXPECT_EQ(drain(fifo), (std::vector<int>{0, 1, 2, 3}));
  fifo.push_back(&nodes[4]);  // the tail of the emptied queue must not be used
  EXPECT_EQ(drain(fifo), (std::vector<int>{4}));
}

TEST(Fifo, AppendsInConstantTimeAndEmptiesTheOther) {
  Node nodes[4];
  for (int i = 0; i < 4; ++i) nodes[i].value = i;
  NodeFifo front;
  NodeFifo back;
  front.append(back);
  EXPECT_TRUE(front.empty());
  back.push_back(&nodes[0]);
  back.push_back(&nodes[1]);
  front.append(back);
  EXPECT_TRUE(back.empty());
  back.push_back(&nodes[2]);
  front.append(back);
  front.push_back(&nodes[3]);
  EXPECT_EQ(drain(front), (std::vector<int>{0, 1, 2, 3}));
}

TEST(MpscStack, SaysWhenItWasEmptyAndGivesNewestFirst) {
  Node nodes[3];
  NodeStack stack;
  EXPECT_TRUE(stack.empty());
  EXPECT_EQ(stack.take_all(), nullptr);
  EXPECT_TRUE(stack.push(&nodes[0]));
  EXPECT_FALSE(stack.push(&nodes[1]));
  nodes[2].next = nullptr;
  EXPECT_FALSE(stack.push_chain(&nodes[2], &nodes[2]));
  Node* chain = stack.take_all();
  EXPECT_TRUE(stack.empty());
  ASSERT_EQ(chain, &nodes[2]);
  EXPECT_EQ(chain->next, &nodes[1]);
  EXPECT_EQ(chain->next->next, &nodes[0]);
  EXPECT_EQ(chain->next->next->next, nullptr);
  chain = reversed<Node, &Node::next>(chain);
  EXPECT_EQ(chain, &nodes[0]);
  EXPECT_EQ(chain->next->next, &nodes[2]);
}

// Each taker pushes what it took again until every node has been around kRounds times: an ABA would show here.
TEST(MpscStack, StressRecyclesNodes) {
  constexpr int kThreads = 4;
  constexpr int kNodes = 64;
  constexpr int kRounds = 2000;
  NodeStack stack;
  std::vector<Node> nodes(kNodes);
  Atomic<int> finished{0};
  Atomic<int> was_empty{0};
  Atomic<int> found_something{0};
  for (Node& node : nodes) was_empty.fetch_add(stack.push(&node) ? 1 : 0);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      while (finished.load() < kNodes) {
        Node* chain = stack.take_all();
        if (chain != nullptr) found_something.fetch_add(1);
        while (chain != nullptr) {
          Node* next = chain->next;
          if (++chain->value == kRounds) {  // plain: the stack's release and acquire must order the accesses
            finished.fetch_add(1);
          } else {
            was_empty.fetch_add(stack.push(chain) ? 1 : 0);
          }
          chain = next;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(stack.empty());
  for (const Node& node : nodes) EXPECT_EQ(node.value, kRounds);
  // Every time the stack became non-empty exactly one pusher was told, and exactly one taker emptied it.
  EXPECT_EQ(was_empty.load(), found_something.load());
}

}  // namespace
}  // namespace marline
