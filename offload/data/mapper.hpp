// SPDX-License-Identifier: Apache-2.0
//
// User-defined mappers: the compiler's function for a type pushes one item per piece of a variable. Its code is the
// program's and may call any routine, so it runs without the lock of a mapping. Any thread.
#pragma once

#include "items/item_list.hpp"

namespace marline::offload::data {

using namespace items;

// The items of one construct, in which those that mappers push stand in the place of each item that has a mapper. The
// caller's arrays, if none has. Mappers run when it is made.
class Expansion {
 public:
  explicit Expansion(const Items& given);

  [[nodiscard]] const Items& items() const { return items_; }

  // Gives the caller's items the bases that use_device_ptr changed.
  void return_bases(const Items& given);

 private:
  void append(Items pushed);

  Items items_;
  ItemList list_;
  Array<uint32_t, 16> places_;  // of the caller's items in the list
};

[[nodiscard]] inline bool has_mapper(const Items& items, int32_t i) {
  return items.mappers != nullptr && items.mappers[i] != nullptr;
}

}  // namespace marline::offload::data
