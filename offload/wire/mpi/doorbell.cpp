// SPDX-License-Identifier: Apache-2.0
//
// The bell as a futex.
#include "wire/mpi/doorbell.hpp"

#include <linux/futex.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>

namespace marline::offload::wire {

namespace {

constexpr int kQuiet = 0, kRung = 1, kAsleep = 2;

// By default the kernel adds 50 us to each sleep of a thread, which is as long as the sleeps here. Done once per
// thread.
void sharpen_timers() {
  constexpr unsigned long kSlack = 1000;  // ns
  static thread_local bool is_done = false;
  if (is_done) return;
  is_done = true;
  prctl(PR_SET_TIMERSLACK, kSlack, 0, 0, 0);
}

}  // namespace

void ring(Doorbell& bell) {
  // Release: after the sleeper takes the ring (take_ring, acquire), it sees what the ringer has written before.
  if (bell.exchange(kRung, std::memory_order_release) != kAsleep) return;
  syscall(SYS_futex, &bell, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

void disturb(Doorbell& bell) {
  // The load is only a hint: a thread that falls asleep just now sleeps for one step of `wait` at most.
  if (bell.load(std::memory_order_relaxed) == kAsleep) ring(bell);
}

bool take_ring(Doorbell& bell) {
  if (bell.load(std::memory_order_relaxed) != kRung) return false;
  return bell.exchange(kQuiet, std::memory_order_acquire) == kRung;  // pairs with `ring`
}

void sleep_at(Doorbell& bell, uint64_t nanoseconds) {
  sharpen_timers();
  int expected = kQuiet;
  if (!bell.compare_exchange_strong(expected, kAsleep, std::memory_order_relaxed)) return;
  constexpr uint64_t kSecond = 1'000'000'000;
  const timespec time = {static_cast<time_t>(nanoseconds / kSecond), static_cast<long>(nanoseconds % kSecond)};
  syscall(SYS_futex, &bell, FUTEX_WAIT_PRIVATE, kAsleep, &time, nullptr, 0);
  expected = kAsleep;
  bell.compare_exchange_strong(expected, kQuiet, std::memory_order_relaxed);  // a ring stays for take_ring
}

}  // namespace marline::offload::wire
