// SPDX-License-Identifier: Apache-2.0
//
// Sections that are not contiguous in a target update (s.grid[1:2][0:3]), as Clang's code passes them. That code has
// errors which differ by version; here they are mended, or the program ends with a line (docs/guide/devices.md, "What
// Clang's code gets wrong").
#pragma once

#include "base/array.hpp"
#include "items/items.hpp"

namespace marline::offload::abi {

using namespace items;

// The items of an update, in which the base of each such section is the address of its first element, the offsets of
// its dimensions are 0, and the innermost one is one run. Lies beside the caller's arrays while the items are used.
class ExactSections {
 public:
  explicit ExactSections(const Items& given);

  [[nodiscard]] const Items& items() const { return items_; }

 private:
  int64_t take_shape(const Dimension* list, int64_t dimensions);

  Items items_;
  Array<void*, 8> bases_, begins_;
  Array<int64_t, 8> sizes_;
  Array<Dimension, 8> dimensions_;
};

}  // namespace marline::offload::abi
