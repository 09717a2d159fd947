// SPDX-License-Identifier: Apache-2.0
//
// A lock for critical sections of a few instructions inside the runtime. Test-and-test-and-set. After a bounded spin
// the waiting thread yields its core, because with more threads than cores the holder may need this core. The lock does
// not know fibers: never suspend a task that holds one.
#pragma once

#include <sched.h>

#include "base/atomic.hpp"

namespace marline {

class SpinLock {
 public:
  void lock() {
    while (!try_lock()) {
      int spins = 0;
      while (word_.load(relaxed) != 0) {
        if (++spins < kSpins) {
          cpu_relax();
        } else {
          sched_yield();
        }
      }
    }
  }

  [[nodiscard]] bool try_lock() {
    // acquire pairs with the release in unlock: what the last holder wrote is visible.
    return word_.load(relaxed) == 0 && word_.exchange(1, acquire) == 0;
  }

  void unlock() { word_.store(0, release); }

 private:
  static constexpr int kSpins = 64;
  Atomic<uint32_t> word_{0};  // 1: held. Written by lock and unlock of any thread.
};

template <class Lock>
class [[nodiscard]] Guard {
 public:
  explicit Guard(Lock& lock) : lock_(lock) { lock_.lock(); }
  ~Guard() { lock_.unlock(); }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  Lock& lock_;
};

}  // namespace marline
