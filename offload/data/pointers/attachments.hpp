// SPDX-License-Identifier: Apache-2.0
//
// The attached pointers of one map entry. On the device, an attached pointer has the device's address of the data that
// it points to. Guarded by the lock of the data environment.
//
// There are two sorted arrays. Most pointers are attached in the order of their addresses, and are appended to the
// first array. Other pointers go to the second array, which is short and is merged into the first one when it is full.
// So the order in which pointers are attached does not matter much, and a copy visits them in one sweep.
#pragma once

#include "base/list.hpp"

#include <cstdint>

namespace marline::offload::data {

struct Attachment {
  uintptr_t slot;  // the pointer's address on the host
  uint64_t value;
};

class Attachments {
 public:
  // Records that the pointer is attached to this value. False: it is already.
  [[nodiscard]] bool note(uintptr_t slot, uint64_t value);

  [[nodiscard]] bool has(uintptr_t slot, uint64_t value);

  // The value that the pointer is attached to. The pointer must be attached.
  [[nodiscard]] uint64_t value_of(uintptr_t slot) { return find(slot)->value; }

  // The positions in both arrays of a sweep over the pointers that end after an address.
  struct Sweep {
    uint32_t in_order;
    uint32_t late;
  };
  [[nodiscard]] Sweep sweep_from(uintptr_t address);
  // The next pointer of the sweep; 0: there is none before `end`.
  [[nodiscard]] uintptr_t next(Sweep& sweep, uintptr_t end);

 private:
  Attachment* find(uintptr_t slot);
  void add(uintptr_t slot, uint64_t value);
  void merge();

  List<Attachment, 1> in_order_;
  List<Attachment, 1> late_;
};

}  // namespace marline::offload::data
