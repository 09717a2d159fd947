// SPDX-License-Identifier: Apache-2.0
//
// Polls and waits. `polling` is held for the length of a call; a thread that finds it held does not wait for it.
#include "wire/mpi/progress.hpp"

#include "base/now.hpp"
#include "wire/mpi/doorbell.hpp"
#include "wire/mpi/inbox.hpp"
#include "wire/mpi/outbox.hpp"

#include <sched.h>

namespace marline::offload::wire {

namespace {

// MPI cannot sleep until a message comes. At first the waiting thread polls MPI without a pause. Then it sleeps between
// polls, each time for a fixed part of the time that it has waited so far. So a message is noticed late by only a small
// part of the wait, and a process that has long been idle polls seldom.
constexpr uint64_t kSpin = 100'000;     // ns
constexpr uint64_t kSpinAlone = 5'000;  // ns of kSpin without yielding the core to other threads
constexpr int kLooksPerClock = 16;  // polls between two reads of the clock: reading it takes about as long as a poll
constexpr uint64_t kShortestSleep = 20'000, kLongestSleep = 200'000;
constexpr uint64_t kSleepsPerWait = 128;  // 40 us after 5 ms, 200 us after 26 ms
// A bulk transfer in flight may move on only while this process polls. So the thread then polls without a pause for
// this long, and later each sleep has the shortest length.
constexpr uint64_t kSpinForBulk = 2'000'000;

// The length of the next sleep, after `passed` ns without a message.
uint64_t next_sleep(uint64_t passed, bool moving) {
  uint64_t part = passed / kSleepsPerWait;
  if (moving || part < kShortestSleep) return kShortestSleep;
  return part < kLongestSleep ? part : kLongestSleep;
}

class Poller {
 public:
  // Acquire and release pair with each other: each owner finds the slots and inboxes as the previous owner left them.
  explicit Poller(Wire* wire) : wire_(wire), owns_(!wire->polling.exchange(true, std::memory_order_acquire)) {}
  ~Poller() {
    if (owns_) wire_->polling.store(false, std::memory_order_release);
  }
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;
  [[nodiscard]] bool may_look() const { return owns_ && !wire_->closed; }

 private:
  Wire* wire_;
  bool owns_;
};

[[nodiscard]] bool has_in_flight(Wire* wire, int peer) {
  return wire->outboxes[peer].in_flight.load(std::memory_order_relaxed) != 0;
}

enum class Look { nothing, moving, something };

Look look(Wire* wire) {
  Poller poller(wire);
  if (!poller.may_look()) return Look::nothing;
  if (has_arrived(wire)) return Look::something;
  bool moving = wire->receiving != 0;
  for (int peer = 0; peer < wire->count; ++peer) {
    if (!has_in_flight(wire, peer)) continue;
    if (can_move(wire, peer)) return Look::something;
    moving = true;
  }
  return moving ? Look::moving : Look::nothing;
}

// A ring counts as something, and is reset.
Look look_often(Wire* wire, int times) {
  Look found = Look::nothing;
  for (; times > 0 && found != Look::something; --times) found = take_ring(wire->bell) ? Look::something : look(wire);
  return found;
}

}  // namespace

int poll_wire(Wire* wire) {
  Poller poller(wire);
  if (!poller.may_look()) return 0;
  int done = service_inboxes(wire);
  for (int peer = 0; peer < wire->count; ++peer) {
    if (has_in_flight(wire, peer)) done += service_outbox(wire, peer);
  }
  return done;
}

void wait_for_wire(Wire* wire, int milliseconds) {
  Look found = look_often(wire, kLooksPerClock);
  const uint64_t begin = now();
  const uint64_t most = milliseconds < 0 ? ~uint64_t{0} : static_cast<uint64_t>(milliseconds) * 1'000'000;
  for (uint64_t passed = 0; found != Look::something && passed < most; passed = now() - begin) {
    const bool moving = found == Look::moving;
    if (passed >= (moving ? kSpinForBulk : kSpin)) {
      const uint64_t sleep = next_sleep(passed, moving);
      sleep_at(wire->bell, sleep < most - passed ? sleep : most - passed);
    } else if (passed > kSpinAlone) {
      sched_yield();
    }
    found = look_often(wire, passed > kSpinAlone ? 1 : kLooksPerClock);
  }
}

void wake_waiter(Wire* wire) { ring(wire->bell); }

}  // namespace marline::offload::wire
