// SPDX-License-Identifier: Apache-2.0
//
// Sections that are not contiguous in a target update, as code of Clang 23 and later passes them, in the layout of the
// versions before: everything here knows that one.
//
// A list ends with a dimension for the bytes of an element: {0, 1, bytes} up to 22, {0, bytes, 1} from 23 on. Offsets
// are bytes from 23 on; before, they count strides, but that before the last counts elements.
#pragma once

#include "base/array.hpp"
#include "items/items.hpp"

namespace marline::offload::abi {

using namespace items;

// Lies beside the caller's arrays while the items are used.
class OlderSections {
 public:
  explicit OlderSections(const Items& given);

  [[nodiscard]] void** begins() { return begins_.count() != 0 ? begins_.begin() : given_; }

 private:
  void** given_;
  Array<void*, 8> begins_;
  Array<Dimension, 8> dimensions_;
};

}  // namespace marline::offload::abi
