// SPDX-License-Identifier: Apache-2.0
//
// Operations by handle, for answers that come from another process: a handle that is none, or is no longer one, is
// noticed. Any thread. Handles are used again, with another count in their upper half. Grows with the operations that
// are under way at a time: 40 bytes for each, up to 2^32.
#pragma once

#include "base/lock.hpp"
#include "device/contract/device.hpp"

namespace marline::offload::device {

class OperationTable {
 public:
  // `to`: where the bytes go that the answer brings, if it does.
  [[nodiscard]] uint64_t add(Operation* operation, void* to = nullptr, size_t bytes = 0);

  // Where the answer's bytes go; null: it is not to bring that many.
  [[nodiscard]] void* place(uint64_t handle, size_t bytes);

  // It has been answered: the handle is none any more. Null: it is none.
  [[nodiscard]] Operation* take(uint64_t handle);

  [[nodiscard]] Lock& lock() { return lock_; }

 private:
  struct Slot {
    Operation* operation;  // null: free
    void* to;
    size_t bytes;
    uint32_t count;
    uint32_t next;  // of the free ones; the number of slots: none
  };

  Slot* find(uint64_t handle);
  void widen();

  Lock lock_;
  Slot* slots_ = nullptr;
  uint32_t slot_count_ = 0;
  uint32_t free_ = 0;
};

}  // namespace marline::offload::device
