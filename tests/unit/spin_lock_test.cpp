// SPDX-License-Identifier: Apache-2.0
//
// base/spin_lock.hpp: exclusion with far more threads than cores, where a holder is often not running.
#include "base/spin_lock.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace marline {
namespace {

TEST(SpinLock, ExcludesWhenOversubscribed) {
  constexpr int kThreads = 16;
  constexpr int kTurns = 5000;
  SpinLock lock;
  long first = 0;  // plain, and a pair: a lost update or a torn pair shows
  long second = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kTurns; ++i) {
        Guard guard(lock);
        ++first;
        if (i % 64 == 0) sched_yield();
        ++second;
        ASSERT_EQ(first, second);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(first, long{kThreads} * kTurns);
}

TEST(SpinLock, TryLockFailsOnlyWhileHeld) {
  SpinLock lock;
  ASSERT_TRUE(lock.try_lock());
  EXPECT_FALSE(lock.try_lock());
  lock.unlock();
  EXPECT_TRUE(lock.try_lock());
  lock.unlock();
}

}  // namespace
}  // namespace marline
