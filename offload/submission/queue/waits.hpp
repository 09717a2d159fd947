// SPDX-License-Identifier: Apache-2.0
//
// Which of the claimed tasks (submitted_tasks.cpp) the program waits for, by numbers in the order of their creation,
// from 1 on. A wait is for what has been created before; tasks that others create meanwhile are followed by a wait of
// theirs. Under submitted_tasks.cpp's lock but for `has_told`.
#pragma once

#include "marline/devices.h"

#include <atomic>

namespace marline::offload::submission {

class AheadWaits {
 public:
  // By the creator of a task, whose number it returns. `is_alone`: no other task is under way.
  uint64_t add(bool is_alone);

  // Without the lock, of a thread that begins to wait: nothing has been created since the last wait of that kind.
  [[nodiscard]] bool has_told(marline_wait_kind_t kind) const;
  // It has begun. `holds_back`: the device wants to hear of waits of all kinds.
  void begin(marline_wait_kind_t kind, bool holds_back);

  // The device has been given what was created before a wait.
  void note_given(uint64_t number) { tells_ = tells_ || number <= waited_.load(std::memory_order_relaxed); }
  // The device is to hear that the program waits ...
  [[nodiscard]] bool tells() const { return tells_; }
  // ... and hears of it now. True: perhaps for some of the tasks only.
  [[nodiscard]] bool take();

  // Whether a thread waits for this task, perhaps without others.
  [[nodiscard]] bool is_awaited(uint64_t number) const { return number <= awaited_.load(std::memory_order_relaxed); }

  // In a fork's child, which has no tasks.
  void forget();

 private:
  [[nodiscard]] bool is_for_some(marline_wait_kind_t kind) const;

  // Written under the lock. Read without it by a thread that asks about tasks of its own, so in the order of the
  // program.
  std::atomic<uint64_t> created_{0};              // the last number
  std::atomic<uint64_t> waited_{0}, awaited_{0};  // as it was when a wait last began, and one that is perhaps for some
  std::atomic<const void*> creator_{nullptr};     // of all tasks under way; null: there are several
  bool tells_ = false, singly_ = false;
};

}  // namespace marline::offload::submission
