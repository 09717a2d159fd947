// SPDX-License-Identifier: Apache-2.0
//
// Pools of pinned blocks through which copies of other memory go. Each device of libomptarget has one pool of at most
// MARLINE_STAGING bytes. A construct that needs more than is left is suspended; the oldest one is served first. Blocks
// are kept for later copies, because pinning takes long. Any thread may call these functions.
//
// No deadlock: a construct holds blocks only while it is in flight on the device, and takes all its blocks at once.
#pragma once

#include "base/intrusive_list.hpp"
#include "base/lock.hpp"
#include "device/contract/device.hpp"

namespace marline::offload::device {

class StagingPool {
 public:
  // How many bytes of the pool a block of this size takes.
  [[nodiscard]] static size_t size_of(size_t bytes);
  // The most bytes that a construct may take in total; 0: there is no staging.
  [[nodiscard]] static size_t limit();

  // Reserves `bytes`: the sum of size_of for all blocks that the caller will take, at most limit(). May suspend.
  void reserve(Device* device, size_t bytes);
  void unreserve(size_t bytes);

  // Takes a block within the reserved bytes. Null: the device cannot allocate pinned memory.
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
  size_t pinned_ = 0;                   // in use and idle
  IntrusiveList<Waiter> waiters_;       // the oldest first
  IntrusiveList<Idle> idle_[kClasses];  // by size class
};

// The pool of a device of libomptarget.
[[nodiscard]] StagingPool& staging_pool(const Device* device);

}  // namespace marline::offload::device
