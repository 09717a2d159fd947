// SPDX-License-Identifier: Apache-2.0
//
// Whether a worker without tasks should steal now. A steal moves the task's cache lines to the thief and, when the
// task's memory is used again, back to its creator. A task that takes less time than that is better run by its creator,
// and while a thief takes many such tasks, the creator hardly gets on. So a thief measures how much of its time it
// spends in the bodies of tasks. If that is too little, and the victim works on its queue itself, the thief pauses
// between two steals, ever longer. Longer tasks, or a victim that leaves its queue alone, end that.
#pragma once

#include <cstdint>

namespace marline {

// One worker's; only its thread uses it.
class Thief {
 public:
  // Whether to look at the queues of the `others`, that many members of a team, now. Called by a worker without a task.
  bool may_steal(int others) {
    if (took_ != 0) end_task(others);
    return !pauses();
  }

  // Whether the worker does not steal for now, though there may be tasks. It must not announce that it sleeps then: the
  // victim would wake it again and again.
  bool pauses() const { return pause_ != 0 && !pause_has_ended(); }

  // Whether it does so for so long that a sleep pays.
  bool pauses_for_long() const;

  // Forgets the steal that is being measured: the worker turns to other work.
  void drop() {
    if (took_ == 0) return;
    took_ = body_began_ = 0;
    sample_ = {};
  }

  // Whether the tasks that the worker has found lately were not worth a steal.
  bool shuns() const { return rejected_ >= kBeforePause; }
  // One step towards stealing as before.
  void forgive();

  // Whether the next steal is to be measured; then `begin` is called right before it.
  bool measures() const { return unmeasured_ == 0; }
  void begin();

  // Whether the bodies of tasks are measured: that of the stolen one, and of those that became ready meanwhile.
  bool times_bodies() const { return took_ != 0; }
  // Around such a body. The worker may have become another one in between.
  void body_begins();
  void body_ends();

  // A task was stolen from this queue. `moves`: a number of the queue that its owner changes when it pushes.
  void took(const void* queue, int64_t moves) {
    if (unmeasured_ != 0) {
      --unmeasured_;
    } else {
      measure(queue, moves);
    }
  }

 private:
  // Pauses come after so many samples that were not worth it.
  static constexpr uint32_t kBeforePause = 3;

  // Several steals in a row, judged together: whether the victim works shows only after some time.
  struct Sample {
    // cycles() of base/clock.hpp; `running`: from the steals until the worker had no tasks any more, bodies included.
    uint64_t stealing = 0, running = 0, bodies = 0;
    uint32_t steals = 0;
    uint32_t moves = 0;  // steals between which the victim has worked on its queue, as far as that can be seen
  };

  void measure(const void* queue, int64_t moves);
  void end_task(int others);
  void judge(int others, uint64_t now);
  bool pause_has_ended() const;

  uint64_t began_ = 0, took_ = 0;  // of the measured steal whose task runs; took_ 0: there is none
  uint64_t body_began_ = 0;        // 0: none runs that is measured
  uint64_t pause_ = 0, resumes_ = 0;
  Sample sample_;
  const void* queue_ = nullptr;  // of the last measured steal; only compared
  int64_t moves_ = 0;            // its number then
  uint32_t rejected_ = 0;        // samples that were not worth their steals, less kForgiven for each that was
  uint32_t unmeasured_ = 0;      // steals that come before the next measured one
};

}  // namespace marline
