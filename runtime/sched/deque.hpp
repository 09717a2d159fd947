// SPDX-License-Identifier: Apache-2.0
//
// The work-stealing deque of Chase and Lev ("Dynamic circular work-stealing deque", SPAA 2005), with the orders of
// Le, Pop, Cohen and Zappa Nardelli (PPoPP 2013) strengthened to seq_cst where they use fences: the store of `bottom_`
// in push is at the same time the first half of the sleep/wake protocol (sched/idle.hpp), which needs the store ordered
// before the load of the sleepers' mask.
//
// The owner pushes and pops at the bottom; any thread may steal at the top. Invariant: top_ never decreases; slots
// [top_, bottom_) hold tasks; a task is taken by the thread that moves top_ past it, or, if it is not the last one, by
// the owner, which lowers bottom_. Models: tests/model/deque.pml.
#pragma once

#include "base/atomic.hpp"
#include "base/memory/shared_pool.hpp"

#include <cstdint>

namespace marline {

struct Task;

class Deque {
 public:
  Deque() = default;
  Deque(const Deque&) = delete;
  Deque& operator=(const Deque&) = delete;
  ~Deque() {
    while (ring_owner_ != nullptr) {
      Ring* older = ring_owner_->older;
      shared_release(ring_owner_);
      ring_owner_ = older;
    }
  }

  // Owner only.
  void push(Task* task) {
    int64_t bottom = bottom_.load(relaxed);
    if (ring_owner_ == nullptr || bottom - top_cached_ >= ring_owner_->capacity) make_room(bottom);
    ring_owner_->slot(bottom).store(task, relaxed);
    // seq_cst: releases the slot to thieves, and orders the push before the pusher's load of the sleepers' mask.
    bottom_.store(bottom + 1, seq_cst);
  }

  // Owner only: the newest task, or null.
  Task* pop() {
    int64_t bottom = bottom_.load(relaxed) - 1;
    if (bottom < top_cached_) return nullptr;  // top_ only grows, so the deque is empty
    Ring* ring = ring_owner_;
    bottom_.store(bottom, seq_cst);  // before the load of top_: a thief that has read the old bottom is seen here
    int64_t top = top_.load(seq_cst);
    top_cached_ = top;
    if (top < bottom) return ring->slot(bottom).load(relaxed);
    Task* task = nullptr;
    if (top == bottom) {  // the last task: compete with the thieves for it
      task = ring->slot(bottom).load(relaxed);
      if (!top_.compare_exchange_strong(top, top + 1, seq_cst, relaxed)) task = nullptr;
      top_cached_ = bottom + 1;
    }
    bottom_.store(bottom + 1, relaxed);
    return task;
  }

  // Any thread: the oldest task, or null if there is none or another thread was faster (`*lost` then becomes true).
  Task* steal(bool* lost) {
    int64_t top = top_.load(seq_cst);
    int64_t bottom = bottom_.load(seq_cst);  // pairs with push: the slot's content is visible
    if (top >= bottom) return nullptr;
    Task* task = ring_.load(acquire)->slot(top).load(relaxed);  // pairs with make_room
    if (!top_.compare_exchange_strong(top, top + 1, seq_cst, relaxed)) {
      *lost = true;
      return nullptr;
    }
    return task;
  }

  // A snapshot, for any thread; seq_cst as the re-check of the sleep protocol.
  bool empty() const { return bottom_.load(seq_cst) <= top_.load(seq_cst); }

  // Any thread: changes with each push and pop of the owner.
  int64_t bottom() const { return bottom_.load(relaxed); }

  // Owner only: how many tasks are queued, at most (thieves may have taken some).
  int64_t size_hint() const { return bottom_.load(relaxed) - top_cached_; }

  // Owner only: whether at least so many tasks are queued. Looks at the thieves' end only if it may be so.
  bool holds(int64_t tasks) {
    const int64_t bottom = bottom_.load(relaxed);
    if (bottom - top_cached_ < tasks) return false;
    top_cached_ = top_.load(relaxed);
    return bottom - top_cached_ >= tasks;
  }

  // Owner only: the exact number at this moment.
  int64_t size() {
    top_cached_ = top_.load(relaxed);
    return bottom_.load(relaxed) - top_cached_;
  }

 private:
  static constexpr int64_t kFirstCapacity = 256;

  struct Ring {
    // An outgrown ring. Thieves may still read it, so it lives as long as the deque.
    Ring* older;
    int64_t capacity;
    Atomic<Task*>& slot(int64_t index) { return reinterpret_cast<Atomic<Task*>*>(this + 1)[index & (capacity - 1)]; }
  };

  void make_room(int64_t bottom) {
    top_cached_ = top_.load(acquire);
    Ring* old = ring_owner_;
    if (old != nullptr && bottom - top_cached_ < old->capacity) return;
    int64_t capacity = old ? old->capacity * 2 : kFirstCapacity;
    const size_t bytes = sizeof(Ring) + static_cast<size_t>(capacity) * sizeof(Task*);
    auto* ring = static_cast<Ring*>(shared_allocate_zeroed(bytes));
    ring->older = old;
    ring->capacity = capacity;
    for (int64_t i = top_cached_; old != nullptr && i < bottom; ++i) {
      ring->slot(i).store(old->slot(i).load(relaxed), relaxed);
    }
    ring_owner_ = ring;
    ring_.store(ring, release);  // pairs with steal
  }

  alignas(kCacheLine) Atomic<int64_t> top_{0};     // written by thieves, and by the owner for the last task
  alignas(kCacheLine) Atomic<int64_t> bottom_{0};  // written by the owner
  int64_t top_cached_ = 0;                         // owner: a lower bound of top_
  Ring* ring_owner_ = nullptr;                     // owner's copy of ring_
  Atomic<Ring*> ring_{nullptr};                    // written by the owner
};

}  // namespace marline
