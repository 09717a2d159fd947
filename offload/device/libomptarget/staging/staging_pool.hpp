// SPDX-License-Identifier: Apache-2.0
//
// Pinned blocks through which copies of other memory go, one pool per device of libomptarget, of at most
// MARLINE_STAGING bytes. Who needs more than is left waits, suspended; the oldest first. Blocks are kept for the next
// copies, since pinning takes long. Any thread.
//
// No deadlock: blocks are held only while a construct is under way on the device, and a construct takes all its blocks
// at once.
#pragma once

#include "base/lock.hpp"
#include "device/contract/device.hpp"

namespace marline::offload::device {

class StagingPool {
 public:
  // What a block of so many bytes takes of the pool.
  [[nodiscard]] static size_t size_of(size_t bytes);
  // The most that a construct may take in sum; 0: there is no staging.
  [[nodiscard]] static size_t limit();

  // `bytes`: the sum of size_of all blocks that the caller will ask for, at most limit(). May suspend.
  void reserve(Device* device, size_t bytes);
  void unreserve(size_t bytes);

  // Within what is reserved. Null: the device gives no pinned memory.
  [[nodiscard]] char* take(Device* device, size_t bytes);
  void give(char* block, size_t bytes);

 private:
  struct Waiter;
  struct Idle {
    Idle* next;
  };
  static constexpr int kClasses = 4 * 40;

  void trim(size_t bytes);

  Lock lock_;
  size_t reserved_ = 0;
  size_t pinned_ = 0;  // in use and idle
  Waiter* first_ = nullptr;
  Waiter** last_ = &first_;
  Idle* idle_[kClasses] = {};
};

// The pool of a device of libomptarget's.
[[nodiscard]] StagingPool& staging_pool(const Device* device);

}  // namespace marline::offload::device
