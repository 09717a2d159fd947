// SPDX-License-Identifier: Apache-2.0
//
// The attached pointers of one piece: pointers on the device that have the device's address of what they point to.
// Under the lock of the mapping.
//
// Two sorted arrays: most pointers are attached in the order of their addresses, which appends to the first one. Others
// go to the second one, which is short and is merged into the first one when it is full: so the order in which pointers
// are attached does not matter much, and a copy meets them in one sweep.
#pragma once

#include "base/array.hpp"

#include <cstdint>

namespace marline::offload::data {

struct Attachment {
  uintptr_t slot;  // the pointer's address on the host
  uint64_t value;
};

class Attachments {
 public:
  // False: the pointer is attached to this value already.
  [[nodiscard]] bool note(uintptr_t slot, uint64_t value);

  [[nodiscard]] bool has(uintptr_t slot, uint64_t value);

  // What the pointer is attached to; it is.
  [[nodiscard]] uint64_t value_of(uintptr_t slot);

  // The places of a sweep over the pointers that end behind an address.
  struct Sweep {
    uint32_t in_order;
    uint32_t late;
  };
  [[nodiscard]] Sweep sweep_from(uintptr_t address);
  // The next pointer, 0 if there is none before `end`.
  [[nodiscard]] uintptr_t next(Sweep& sweep, uintptr_t end);

 private:
  using List = Array<Attachment, 1>;

  void add(uintptr_t slot, uint64_t value);
  void merge();

  List in_order_;
  List late_;
};

}  // namespace marline::offload::data
