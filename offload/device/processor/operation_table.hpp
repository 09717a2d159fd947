// SPDX-License-Identifier: Apache-2.0
//
// Finds operations by their handles, for answers that come from another process. It detects a handle that was never
// valid or no longer is. A slot is used again with another count in the upper half of its handle. The table grows with
// the operations that are in flight at a time: 32 bytes for each, up to 2^32 operations. Any thread.
#pragma once

#include "base/lock.hpp"
#include "device/contract/device.hpp"

namespace marline::offload::device {

class OperationTable {
 public:
  // `to`, `bytes`: where the answer's data goes, and how much it is, if the answer brings data.
  [[nodiscard]] uint64_t add(Operation* operation, void* to = nullptr, size_t bytes = 0);

  // Where the answer's data goes. Null: the answer must not bring so many bytes, or the handle is not valid.
  [[nodiscard]] void* place(uint64_t handle, size_t bytes);

  // The operation has been answered: its handle is no longer valid. Null: the handle is not valid.
  [[nodiscard]] Operation* take(uint64_t handle);

  [[nodiscard]] Lock& lock() { return lock_; }

 private:
  struct Slot {
    Operation* operation;  // null: free
    void* to;
    size_t bytes;
    uint32_t count;
    uint32_t next;  // the next free slot; the number of slots: none
  };

  Slot* find(uint64_t handle);
  void widen();

  Lock lock_;
  Slot* slots_ = nullptr;
  uint32_t slot_count_ = 0;
  uint32_t free_ = 0;
};

}  // namespace marline::offload::device
