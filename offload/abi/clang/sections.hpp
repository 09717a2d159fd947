// SPDX-License-Identifier: Apache-2.0
//
// Corrects the sections that are not contiguous in a target update (s.grid[1:2][0:3]), as Clang's code passes them.
// That code has errors that differ by version. They are corrected here, or the program ends with a message
// (docs/guide/devices.md, "What Clang's code gets wrong").
#pragma once

#include "base/list.hpp"
#include "items/items.hpp"

namespace marline::offload::abi {

using namespace items;

// The items of a target update, in which each section that is not contiguous is described correctly: its base is the
// address of its first element, the offsets of its dimensions are 0, and the innermost dimension is one contiguous run.
// All other items are as given. The object and the caller's arrays must stay while the items are used.
class ExactSections {
 public:
  explicit ExactSections(const Items& given);

  [[nodiscard]] const Items& items() const { return items_; }

 private:
  int64_t take_shape(const Dimension* list, int64_t dimensions);

  Items items_;
  List<void*, 8> bases_, begins_;
  List<int64_t, 8> sizes_;
  List<Dimension, 8> dimensions_;
};

}  // namespace marline::offload::abi
