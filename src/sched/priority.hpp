// SPDX-License-Identifier: Apache-2.0
//
// Ready tasks with a priority (OpenMP 5.2, section 12.4). Only where OMP_MAX_TASK_PRIORITY is above zero, its default, do
// priorities count; each member then has one of these beside its deque. The order is relaxed: a worker takes the highest of
// its own buckets, then of its victims', so a task may overtake at most those in other members' queues; within a bucket the
// order is that of arrival. Priorities above zero are spread evenly over the buckets.
#pragma once

#include "base/atomic.hpp"
#include "base/intrusive.hpp"
#include "base/spin_lock.hpp"
#include "config/options.hpp"
#include "task/task.hpp"

#include <bit>

namespace marline {

class PriorityQueue {
 public:
  // Any thread. seq_cst on the mask: the first half of the sleep protocol (sched/idle.hpp).
  void push(Task* task) {
    int bucket = bucket_of(task->priority);
    Guard<SpinLock> guard(lock_);
    buckets_[bucket].push_back(task);
    mask_.store(mask_.load(relaxed) | uint64_t{1} << bucket, seq_cst);
  }

  // Any thread: a task of the highest bucket in use, or null.
  Task* pop() {
    if (empty()) return nullptr;
    Guard<SpinLock> guard(lock_);
    uint64_t mask = mask_.load(relaxed);
    if (mask == 0) return nullptr;
    int bucket = 63 - std::countl_zero(mask);
    Task* task = buckets_[bucket].pop_front();
    if (buckets_[bucket].empty()) mask_.store(mask & ~(uint64_t{1} << bucket), relaxed);
    return task;
  }

  bool empty() const { return mask_.load(seq_cst) == 0; }

 private:
  static constexpr int kBuckets = 64;

  static int bucket_of(int32_t priority) {
    int64_t highest = options().max_task_priority;
    int64_t clamped = priority < highest ? priority : highest;
    return static_cast<int>(clamped * (kBuckets - 1) / highest);
  }

  SpinLock lock_;                 // buckets_, and changes of mask_
  Atomic<uint64_t> mask_{0};      // bit b: bucket b is not empty
  Fifo<Task, &Task::next> buckets_[kBuckets];
};

}  // namespace marline
