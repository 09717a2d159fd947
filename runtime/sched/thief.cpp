// SPDX-License-Identifier: Apache-2.0
//
// How long a thief pauses between two steals (sched/thief.hpp).
#include "sched/thief.hpp"

#include "base/clock.hpp"

#include <algorithm>

namespace marline {

namespace {

// Tasks are worth a steal that take at least so many times what it takes; measured over task lengths, on processors
// 26 and 170 ns apart: below that, two threads are slower than one.
constexpr uint64_t kWorth = 2;
// The size of a sample; while the thief pauses, one steal is a sample.
constexpr uint32_t kSample = 8;
// Between two samples, where the thief is welcome. Reading the clock is a tenth of a steal.
constexpr uint32_t kUnmeasured = 24;
// The first pause is as long as a steal, the next ones each twice as long, up to 2^kDoublings times. A steal costs the
// creator about two steals' time: at most a few per cent.
constexpr uint32_t kDoublings = 6;
// A sample that was worth it makes up for so many that were not: one task that an interrupt has made long does not
// bring all steals back, three long tasks do.
constexpr uint32_t kForgiven = 3;
// Thieves that share a victim pause for longer, each as if so many others did the same at most: so no pause is longer
// than 512 steals, some 50 to 200 us.
constexpr int kMostOthers = 8;

}  // namespace

void Thief::begin() { began_ = cycles(); }

void Thief::measure(const void* queue, int64_t moves) {
  if (queue == queue_ && moves != moves_) ++sample_.moves;
  queue_ = queue;
  moves_ = moves;
  took_ = cycles();
}

bool Thief::pause_has_ended() const { return cycles() >= resumes_; }

void Thief::end_task(int others) {
  const uint64_t now = cycles();
  sample_.stealing += took_ - began_;
  sample_.running += now - took_;
  took_ = 0;
  if (++sample_.steals >= kSample || pause_ != 0) judge(others, now);
}

void Thief::forgive() { rejected_ -= std::min(rejected_, kForgiven); }

void Thief::judge(int others, uint64_t now) {
  const Sample sample = sample_;
  sample_ = {};
  const bool worth = sample.running >= kWorth * sample.stealing || sample.moves == 0;
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
  pause_ = (sample.stealing / sample.steals << doublings) * sharing;
  resumes_ = now + pause_;
}

}  // namespace marline
