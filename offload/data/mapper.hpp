// SPDX-License-Identifier: Apache-2.0
//
// Runs user-defined mappers: the compiler's function for a type pushes one item for each part of a variable that it
// maps. This function is code of the program and may call any routine, so it runs without the lock of a data
// environment. Any thread.
#pragma once

#include "items/item_list.hpp"

namespace marline::offload::data {

using namespace items;

// The items of one construct, in which each item that has a mapper is replaced by the items that the mapper pushes. If
// no item has a mapper, these are the caller's arrays. The constructor runs the mappers.
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
  List<uint32_t, 16> places_;  // index in `list_` of each of the caller's items
};

[[nodiscard]] inline bool has_mapper(const Items& items, int32_t i) {
  return items.mappers != nullptr && items.mappers[i] != nullptr;
}

}  // namespace marline::offload::data
