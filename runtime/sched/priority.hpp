// SPDX-License-Identifier: Apache-2.0
//
// Ready tasks with a priority (OpenMP 5.2, section 12.4), in a queue beside each member's deque, which exists only if
// priorities are enabled (options().priority.on). Buckets (task/priority_bucket.hpp) under a bitmap of two levels:
// both operations take a constant time, however many priorities there are. Any thread, under the queue's lock.
//
// The order is relaxed. A worker takes a task from the highest of its own buckets, and from other members' buckets only
// if its own are empty. So a task of lower priority overtakes another task only in the same bucket, or from another
// member's queue (docs/design/priorities.md). The order within a bucket is that of MARLINE_SCHEDULE: newest first,
// except with fifo, so that the task that became ready last finds its data in the cache.
//
// Invariant, under the lock: bit b of words_[w] is set iff buckets_[64 w + b] is not empty; bit w of summary_ is set
// iff words_[w] is not zero.
#pragma once

#include "base/atomic.hpp"
#include "base/intrusive.hpp"
#include "base/spin_lock.hpp"
#include "config/options.hpp"
#include "task/priority_bucket.hpp"
#include "task/task.hpp"

#include <bit>

namespace marline {

class PriorityQueue {
 public:
  // The bucket for a task's present priority. A task that is queued stays in its bucket if its priority changes.
  static int bucket_of(const Task* task) {
    return priority_bucket_of(task->priority.load(relaxed), options().priority.exact);
  }

  void push(Task* task) {
    int bucket = bucket_of(task);
    int word = bucket / 64;
    bool fifo = options().schedule.policy == SchedulePolicy::kFifo;
    Guard<SpinLock> guard(lock_);
    if (fifo) {
      buckets_[bucket].push_back(task);
    } else {
      buckets_[bucket].push_front(task);
    }
    words_[word].store(words_[word].load(relaxed) | uint64_t{1} << bucket % 64, relaxed);
    size_.store(size_.load(relaxed) + 1, relaxed);
    pushes_.store(pushes_.load(relaxed) + 1, relaxed);
    // seq_cst: the first half of the sleep protocol (sched/idle.hpp).
    summary_.store(summary_.load(relaxed) | uint64_t{1} << word, seq_cst);
  }

  // A task of the highest bucket in use, or null.
  Task* pop() {
    if (empty()) return nullptr;
    Guard<SpinLock> guard(lock_);
    int bucket = highest();
    if (bucket < 0) return nullptr;
    Task* task = buckets_[bucket].pop_front();
    size_.store(size_.load(relaxed) - 1, relaxed);
    if (buckets_[bucket].empty()) {
      int word = bucket / 64;
      uint64_t bits = words_[word].load(relaxed) & ~(uint64_t{1} << bucket % 64);
      words_[word].store(bits, relaxed);
      if (bits == 0) summary_.store(summary_.load(relaxed) & ~(uint64_t{1} << word), relaxed);
    }
    return task;
  }

  // Snapshots. seq_cst: the re-check of the sleep protocol.
  bool empty() const { return summary_.load(seq_cst) == 0; }
  int64_t size() const { return size_.load(relaxed); }
  int64_t pushes() const { return pushes_.load(relaxed); }

  // The highest bucket in use, or -1. Also a snapshot, unless the lock is held.
  int highest() const {
    uint64_t summary = summary_.load(relaxed);
    if (summary == 0) return -1;
    int word = 63 - std::countl_zero(summary);
    uint64_t bits = words_[word].load(relaxed);
    return bits == 0 ? -1 : word * 64 + 63 - std::countl_zero(bits);
  }

 private:
  static constexpr int kWords = kPriorityBuckets / 64;
  static_assert(kWords <= 64);

  SpinLock lock_;
  Atomic<int64_t> size_{0};  // written under the lock, as are `pushes_` and the bitmaps
  Atomic<int64_t> pushes_{0};
  Atomic<uint64_t> summary_{0};
  Atomic<uint64_t> words_[kWords] = {};
  Fifo<Task, &Task::next> buckets_[kPriorityBuckets];
};

}  // namespace marline
