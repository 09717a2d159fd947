// SPDX-License-Identifier: Apache-2.0
//
// How long a thief pauses between two steals (sched/thief.hpp).
#include "sched/thief.hpp"

#include "base/clock.hpp"

#include <algorithm>

namespace marline {

namespace {

// A thief is worth what it takes if it spends at least this part of its time in the bodies of tasks, rather than in
// steals, starts and completions, which wait for cache lines and make other threads wait for them. Measured over task
// lengths, on processors 26 and 170 ns apart: below that, two threads are slower than one.
constexpr uint64_t kWorth = 1, kWorthOf = 2;
// The size of a sample; while the thief pauses, one steal is a sample.
constexpr uint32_t kSample = 4;
// Between two samples, where the thief is welcome: a measured steal takes a few tens of nanoseconds longer.
constexpr uint32_t kUnmeasured = 124;
// The first pause is as long as a steal and what it led to, the next ones each twice as long, up to 2^kDoublings times.
// Meanwhile the creator gets on; while the thief works it may hardly do so. So it loses at most a few per cent.
constexpr uint32_t kDoublings = 5;
// A sample that was worth it makes up for so many that were not: one task that an interrupt has made long does not
// bring all steals back, three long tasks do.
constexpr uint32_t kForgiven = 3;
// Thieves that share a victim pause for longer, each as if so many others did the same at most.
constexpr int kMostOthers = 8;
// No pause is longer: in ns.
constexpr uint64_t kLongestPause = 100'000;

}  // namespace

void Thief::begin() { began_ = cycles(); }

void Thief::measure(const void* queue, int64_t moves) {
  if (queue == queue_ && moves != moves_) ++sample_.moves;
  queue_ = queue;
  moves_ = moves;
  took_ = cycles();
}

bool Thief::pause_has_ended() const { return cycles() >= resumes_; }

bool Thief::pauses_for_long() const {
  constexpr uint64_t kLong = 20'000;  // ns
  return pause_ >= cycles_about(kLong);
}

void Thief::body_begins() { body_began_ = cycles_after_loads(); }

void Thief::body_ends() {
  if (body_began_ == 0) return;  // the task began on another thread
  sample_.bodies += cycles_after_loads() - body_began_;
  body_began_ = 0;
}

void Thief::end_task(int others) {
  const uint64_t now = cycles();
  if (body_began_ != 0) return drop();  // a body has been suspended: what it needed is not known
  sample_.stealing += took_ - began_;
  sample_.running += now - took_;
  took_ = 0;
  if (++sample_.steals >= kSample || pause_ != 0) judge(others, now);
}

void Thief::forgive() { rejected_ -= std::min(rejected_, kForgiven); }

void Thief::judge(int others, uint64_t now) {
  const Sample sample = sample_;
  sample_ = {};
  const bool is_long = kWorthOf * sample.bodies >= kWorth * (sample.stealing + sample.running);
  const bool worth = is_long || sample.moves == 0;
  if (worth) {
    forgive();
    if (rejected_ == 0) unmeasured_ = kUnmeasured;
  } else {
    rejected_ = std::min(rejected_ + 1, kBeforePause + kDoublings);
  }
  if (rejected_ < kBeforePause) {
    pause_ = 0;
    return;
  }
  const uint32_t doublings = rejected_ - kBeforePause;
  const auto sharing = static_cast<uint64_t>(std::min(others, kMostOthers));
  const uint64_t once = (sample.stealing + sample.running) / sample.steals;
  pause_ = std::min((once << doublings) * sharing, cycles_about(kLongestPause));
  resumes_ = now + pause_;
}

}  // namespace marline
