// SPDX-License-Identifier: Apache-2.0
//
// A list of map items that this library makes itself. One owner at a time.
#pragma once

#include "base/list.hpp"
#include "items/items.hpp"

#include <cstddef>

namespace marline::offload::items {

struct ItemList {
  List<void*, 16> bases;
  List<void*, 16> begins;
  List<int64_t, 16> sizes;
  List<uint64_t, 16> types;

  void push(void* base, void* begin, int64_t size, uint64_t type) {
    bases.push(base);
    begins.push(begin);
    sizes.push(size);
    types.push(type);
  }

  // Valid until the next push.
  [[nodiscard]] Items items() {
    return {.count = static_cast<int32_t>(types.count()),
            .bases = bases.begin(),
            .begins = begins.begin(),
            .sizes = sizes.begin(),
            .types = types.begin()};
  }
};

}  // namespace marline::offload::items
