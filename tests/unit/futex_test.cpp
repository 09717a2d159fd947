// SPDX-License-Identifier: Apache-2.0
//
// base/futex.hpp: which threads sleep and wake, time limits, and errno.
#include "base/futex.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <thread>

#include "base/clock.hpp"

namespace marline {
namespace {

TEST(Futex, DoesNotSleepOnAnotherValue) {
  Atomic<uint32_t> word{1};
  futex_wait(word, 0);  // would hang
  EXPECT_TRUE(futex_wait_for(word, 0, 1000000000));
}

TEST(Futex, TimeRunsOutAndErrnoStays) {
  Atomic<uint32_t> word{0};
  errno = 4711;
  const double begin = wtime();
  EXPECT_FALSE(futex_wait_for(word, 0, 20000000));
  EXPECT_GE(wtime() - begin, 0.019);
  futex_wait(word, 1);
  futex_wake(word, 1);
  EXPECT_EQ(errno, 4711);
}

TEST(Futex, WakesWhoSleeps) {
  Atomic<uint32_t> word{0};
  Atomic<int> awake{0};
  std::thread sleeper([&] {
    while (word.load(acquire) == 0) futex_wait(word, 0);
    awake.store(1);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(awake.load(), 0);
  word.store(1, release);
  futex_wake(word, 1);
  sleeper.join();
  EXPECT_EQ(awake.load(), 1);
}

}  // namespace
}  // namespace marline
