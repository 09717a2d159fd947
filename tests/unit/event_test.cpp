// SPDX-License-Identifier: Apache-2.0
//
// task/event.hpp and base/parker.hpp: each journey of the event's word, and both under a racing fulfiller or waker.
#include "task/event.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/parker.hpp"

namespace marline {
namespace {

TEST(Event, WaiterFirst) {
  Event event;
  alignas(8) int who = 0;
  EXPECT_FALSE(event.is_fulfilled());
  EXPECT_TRUE(event.transition_to_waiting(WaiterKind::kTask, &who));
  const Waiter waiter = event.transition_to_fulfilled();
  EXPECT_EQ(waiter.kind, WaiterKind::kTask);
  EXPECT_EQ(waiter.who, &who);
  EXPECT_TRUE(event.is_fulfilled());
}

TEST(Event, FulfilmentFirst) {
  Event event;
  alignas(8) int who = 0;
  EXPECT_EQ(event.transition_to_fulfilled().kind, WaiterKind::kNone);
  EXPECT_FALSE(event.transition_to_waiting(WaiterKind::kCompletion, &who));
  EXPECT_TRUE(event.is_fulfilled());
  event.reset();
  EXPECT_FALSE(event.is_fulfilled());
  EXPECT_TRUE(event.transition_to_waiting(WaiterKind::kCompletion, &who));
  EXPECT_EQ(event.transition_to_fulfilled().kind, WaiterKind::kCompletion);
}

TEST(Event, DetachClauseSaysHowFarItsTaskIs) {
  Event event;
  alignas(8) int who = 0;
  EXPECT_FALSE(event.is_pending_detach());
  event.reset_detach();
  EXPECT_TRUE(event.is_pending_detach());
  EXPECT_FALSE(event.is_fulfilled());
  EXPECT_FALSE(event.holds_completion());
  EXPECT_TRUE(event.transition_to_waiting(WaiterKind::kCompletion, &who));
  EXPECT_FALSE(event.is_pending_detach());
  EXPECT_TRUE(event.holds_completion());
  EXPECT_EQ(event.transition_to_fulfilled().who, &who);
  event.reset_detach();
  EXPECT_EQ(event.transition_to_fulfilled().kind, WaiterKind::kNone);
  EXPECT_TRUE(event.is_fulfilled());
}

// Either the waiter is refused or the fulfiller gets it, never both and never neither; and what the fulfiller wrote
// before is visible to the side that continues.
TEST(Event, RaceReleasesTheWaiterExactlyOnce) {
  constexpr int kRounds = 20000;
  Event event;
  alignas(8) int who = 0;
  Atomic<int> turn{0};     // the round that may begin
  Atomic<int> handed{-1};  // twice the round that the fulfiller has ended, plus one if it got the waiter
  int effect = 0;
  std::thread fulfiller([&] {
    for (int round = 1; round <= kRounds; ++round) {
      for (int looks = 0; turn.load(acquire) < round; ++looks) {
        looks < 100 ? cpu_relax() : std::this_thread::yield();
      }
      effect = round;
      const Waiter waiter = event.transition_to_fulfilled();
      handed.store(2 * round + (waiter.kind == WaiterKind::kTask ? 1 : 0), release);
    }
  });
  for (int round = 1; round <= kRounds; ++round) {
    event.reset();
    turn.store(round, release);
    for (int i = 0; i < round % 40; ++i) cpu_relax();
    const bool published = event.transition_to_waiting(WaiterKind::kTask, &who);
    if (!published) {
      ASSERT_EQ(effect, round);
    }
    int answer;
    for (int looks = 0; (answer = handed.load(acquire)) < 2 * round; ++looks) {
      if (looks > 100) std::this_thread::yield();
    }
    ASSERT_EQ(answer % 2 == 1, published);
  }
  fulfiller.join();
}

TEST(Parker, KeepsOneNotification) {
  Parker parker;
  parker.unpark();
  parker.unpark();
  parker.park();  // would hang
  std::thread waker([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    parker.unpark();
  });
  parker.park();  // the second notification was not kept: this one waits for the thread
  waker.join();
}

TEST(Parker, ParksForATime) {
  constexpr uint64_t kMillisecond = 1000 * 1000;
  Parker parker;
  auto begin = std::chrono::steady_clock::now();
  parker.park_for(kMillisecond);  // would hang
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(1));
  parker.unpark();
  parker.park_for(60000 * kMillisecond);  // would take a minute: notified before
  std::thread waker([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    parker.unpark();
  });
  // Would take a minute, too: the first notification was not kept, the second comes meanwhile.
  parker.park_for(60000 * kMillisecond);
  waker.join();
}

// Whether the time or the notification comes first, none is lost: each loss would take a minute.
TEST(Parker, PingPongWithTimes) {
  constexpr int kRounds = 5000;
  Parker ours;
  Parker theirs;
  std::atomic<int> turns{0};
  auto play = [&](Parker& mine, Parker& other, int parity) {
    for (int i = 0; i < kRounds; ++i) {
      for (bool once = i % 2 == 0; turns.load() % 2 != parity; once = false) mine.park_for(once ? 1000 : 60000000000);
      turns.fetch_add(1);
      other.unpark();
    }
  };
  std::thread partner([&] { play(theirs, ours, 1); });
  play(ours, theirs, 0);
  partner.join();
  EXPECT_EQ(turns.load(), 2 * kRounds);
  ours.park_for(1);  // a last notification may be there
  std::thread waker([&] { ours.unpark(); });
  ours.park();  // and after that, one is not lost
  waker.join();
}

TEST(Parker, PingPong) {
  constexpr int kRounds = 5000;
  Parker ours;
  Parker theirs;
  int ball = 0;  // plain: the parkers order the accesses
  std::thread partner([&] {
    for (int i = 0; i < kRounds; ++i) {
      theirs.park();
      ++ball;
      ours.unpark();
    }
  });
  for (int i = 0; i < kRounds; ++i) {
    theirs.unpark();
    ours.park();
    ASSERT_EQ(ball, i + 1);
  }
  partner.join();
}

}  // namespace
}  // namespace marline
