// SPDX-License-Identifier: Apache-2.0
//
// User-defined mappers: the compiler's function for a type pushes one item per piece of a variable. Any thread.
#pragma once

#include "base/array.hpp"
#include "base/items.hpp"

namespace marline::target {

// What a mapper has pushed. Its address is the handle that the mapper's code passes along.
struct Pushed {
  // First: libomptarget's handles begin with a pointer, which is never odd.
  static constexpr uint64_t kMark = 0x6d61726c696e6525;
  uint64_t mark = kMark;
  Array<void*, 16> bases;
  Array<void*, 16> begins;
  Array<int64_t, 16> sizes;
  Array<uint64_t, 16> types;

  [[nodiscard]] Items items();
};

// Calls the mapper of item i.
void run_mapper(const Items& items, int32_t i, Pushed& to);

[[nodiscard]] inline bool has_mapper(const Items& items, int32_t i) {
  return items.mappers != nullptr && items.mappers[i] != nullptr;
}

}  // namespace marline::target
