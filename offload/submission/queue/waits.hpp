// SPDX-License-Identifier: Apache-2.0
//
// Records which claimed tasks (submission.cpp) the program waits for. Tasks are numbered from 1 in the order of their
// creation. A wait is for all tasks that were created before it. If other threads create tasks during the wait, a wait
// for these tasks follows. All functions but `has_notified` are called with the lock of submission.cpp.
#pragma once

#include "marline/devices.h"

#include <atomic>

namespace marline::offload::submission {

class TaskWaits {
 public:
  // Called by the creator of a task; returns the task's number. `is_alone`: no other task is in progress.
  uint64_t add(bool is_alone);

  // Called without the lock, by a thread that begins to wait. Whether no task has been created since the last wait of
  // that kind.
  [[nodiscard]] bool has_notified(marline_wait_kind_t kind) const;
  // Called when a wait begins. `holds_back`: the device wants to be notified of waits of all kinds.
  void begin(marline_wait_kind_t kind, bool holds_back);

  // Called when a task has been submitted. If the task was created before a wait, the device must be notified of the
  // wait.
  void note_given(uint64_t number) { must_notify_ = must_notify_ || number <= waited_.load(std::memory_order_relaxed); }
  // Whether the device is to be notified that the program waits.
  [[nodiscard]] bool must_notify() const { return must_notify_; }
  // Called when the device is notified of the waits. True: one of them may be for some of the tasks only.
  [[nodiscard]] bool take();

  // Whether a wait that may be for some of the tasks only has begun since the task was created.
  [[nodiscard]] bool is_awaited(uint64_t number) const { return number <= awaited_.load(std::memory_order_relaxed); }

  // In a fork's child, which has no tasks.
  void forget();

 private:
  [[nodiscard]] bool is_for_some(marline_wait_kind_t kind) const;

  // The atomics are written under the lock. A thread reads them without the lock only to ask about its own tasks, so it
  // sees at least its own writes, in the order of the program.
  std::atomic<uint64_t> created_{0};  // number of the last task
  // created_ when the last wait began, and when the last wait began that may be for some tasks only.
  std::atomic<uint64_t> waited_{0}, awaited_{0};
  std::atomic<const void*> creator_{nullptr};  // the creator of all tasks in progress; null: there are several
  bool must_notify_ = false, singly_ = false;
};

}  // namespace marline::offload::submission
