// SPDX-License-Identifier: Apache-2.0
//
// Counts the commands that came while the thread had yielded, and moves the thread when there are many in a row.
#include "device/processor/shared_cpu.hpp"

#include <sched.h>

namespace marline::offload::device {

namespace {

constexpr int kTurns = 16;                 // with fewer, a move costs more than it saves
constexpr uint64_t kBetween = 10'000'000;  // nanoseconds between moves: if all CPUs are busy, moves cost less than 1 %

// Moves the calling thread to another CPU, and then allows it the same CPUs as before. Nothing happens if it is bound
// to this CPU, or if the machine has more CPUs than a cpu_set_t (1,024).
void leave_cpu() {
  cpu_set_t all, others;
  int cpu = sched_getcpu();
  if (cpu < 0 || sched_getaffinity(0, sizeof all, &all) != 0) return;
  others = all;
  CPU_CLR(static_cast<unsigned>(cpu), &others);
  if (CPU_COUNT(&others) != 0 && sched_setaffinity(0, sizeof others, &others) == 0) {
    sched_setaffinity(0, sizeof all, &all);
  }
}

}  // namespace

void SharedCpu::note_command(bool was_away, uint64_t time) {
  if (!was_away) {
    turns_ = 0;
  } else if (++turns_ >= kTurns && time >= not_before_) {
    turns_ = 0;
    not_before_ = time + kBetween;
    leave_cpu();
  }
}

}  // namespace marline::offload::device
