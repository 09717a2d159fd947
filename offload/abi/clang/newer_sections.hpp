// SPDX-License-Identifier: Apache-2.0
//
// Converts the sections that are not contiguous in a target update from the layout of Clang 23 and later to that of
// earlier versions, which the rest of the library uses.
//
// A list ends with a dimension for the bytes of an element: {0, 1, bytes} up to Clang 22, {0, bytes, 1} from Clang 23
// on. From 23 on, offsets are in bytes. Up to 22, an offset counts strides of its dimension, but in the dimension
// before the last one it counts elements.
#pragma once

#include "base/list.hpp"
#include "items/items.hpp"

namespace marline::offload::abi {

using namespace items;

// The `begins` array of an update's items, in which each list of dimensions is replaced by its converted copy. The
// object and the caller's arrays must stay while the items are used.
class OlderSections {
 public:
  explicit OlderSections(const Items& given);

  [[nodiscard]] void** begins() { return begins_.count() != 0 ? begins_.begin() : given_; }

 private:
  void** given_;
  List<void*, 8> begins_;
  List<Dimension, 8> dimensions_;
};

}  // namespace marline::offload::abi
