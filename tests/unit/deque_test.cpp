// SPDX-License-Identifier: Apache-2.0
//
// sched/deque.hpp: order at both ends, growth, and no task lost or taken twice with 1 to 8 thieves.
#include "sched/deque.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace marline {
namespace {

// The deque never reads a task, so a number serves as one.
Task* task(uintptr_t number) { return reinterpret_cast<Task*>(number); }
uintptr_t number(Task* task) { return reinterpret_cast<uintptr_t>(task); }

TEST(Deque, OwnerTakesTheNewestThievesTheOldest) {
  Deque deque;
  bool lost = false;
  EXPECT_TRUE(deque.empty());
  EXPECT_EQ(deque.pop(), nullptr);
  EXPECT_EQ(deque.steal(&lost), nullptr);
  for (uintptr_t i = 1; i <= 4; ++i) deque.push(task(i));
  EXPECT_EQ(deque.size(), 4);
  EXPECT_EQ(deque.pop(), task(4));
  EXPECT_EQ(deque.steal(&lost), task(1));
  EXPECT_EQ(deque.pop(), task(3));
  EXPECT_FALSE(deque.empty());
  EXPECT_EQ(deque.steal(&lost), task(2));
  EXPECT_TRUE(deque.empty());
  EXPECT_EQ(deque.pop(), nullptr);
  EXPECT_EQ(deque.size(), 0);
  EXPECT_FALSE(lost);
}

TEST(Deque, GrowsWithAnOffsetStart) {
  constexpr uintptr_t kTasks = 5000;
  Deque deque;
  bool lost = false;
  for (uintptr_t i = 1; i <= 100; ++i) deque.push(task(i));
  for (uintptr_t i = 1; i <= 100; ++i) EXPECT_EQ(deque.steal(&lost), task(i));
  for (uintptr_t i = 1; i <= kTasks; ++i) deque.push(task(i));
  for (uintptr_t i = 1; i <= kTasks / 2; ++i) ASSERT_EQ(deque.steal(&lost), task(i));
  for (uintptr_t i = kTasks; i > kTasks / 2; --i) ASSERT_EQ(deque.pop(), task(i));
  EXPECT_TRUE(deque.empty());
}

class DequeStress : public testing::TestWithParam<int> {};

TEST_P(DequeStress, EveryTaskIsTakenOnce) {
  constexpr uintptr_t kTasks = 60000;
  Deque deque;
  auto taken = std::make_unique<Atomic<int>[]>(kTasks + 1);
  Atomic<bool> done{false};
  Atomic<long> stolen{0};
  std::vector<std::thread> thieves;
  for (int i = 0; i < GetParam(); ++i) {
    thieves.emplace_back([&] {
      while (!done.load(acquire)) {
        bool lost = false;
        if (Task* found = deque.steal(&lost)) {
          taken[number(found)].fetch_add(1, relaxed);
          stolen.fetch_add(1, relaxed);
        }
      }
    });
  }
  // Bursts of changing length, so that the deque is often nearly empty (the race for the last task) and grows at times.
  uintptr_t next = 1;
  for (uintptr_t burst = 1; next <= kTasks; burst = burst % 700 + 3) {
    for (uintptr_t i = 0; i < burst && next <= kTasks; ++i) deque.push(task(next++));
    if (next > kTasks) break;
    for (uintptr_t i = 0; i < burst / 2 + burst % 2; ++i) {
      if (Task* found = deque.pop()) taken[number(found)].fetch_add(1, relaxed);
    }
    if (burst % 5 == 0) std::this_thread::yield();
  }
  // The thieves take the rest, so that they get tasks even on a busy machine.
  while (!deque.empty()) std::this_thread::yield();
  EXPECT_EQ(deque.pop(), nullptr);
  done.store(true, release);
  for (std::thread& thief : thieves) thief.join();
  EXPECT_TRUE(deque.empty());
  for (uintptr_t i = 1; i <= kTasks; ++i) ASSERT_EQ(taken[i].load(), 1) << i;
  EXPECT_GT(stolen.load(), 0);
}

INSTANTIATE_TEST_SUITE_P(Thieves, DequeStress, testing::Values(1, 2, 4, 8));

}  // namespace
}  // namespace marline
