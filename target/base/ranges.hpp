// SPDX-License-Identifier: Apache-2.0
//
// Ranges of addresses that do not overlap, found by address: a treap (a search tree by begin that is a heap by a random
// number), so that any number of ranges costs O(log n) whatever the order in which they come and go. The nodes are the
// caller's. No lock of its own.
#pragma once

#include <cstdint>

namespace marline::target {

struct Range {
  uintptr_t begin;
  uintptr_t end;  // behind the last byte
  Range* left;
  Range* right;
  uint32_t heat;  // of a parent >= those of its children

  [[nodiscard]] bool contains(uintptr_t first, uintptr_t behind) const { return begin <= first && behind <= end; }
};

class Ranges {
 public:
  // The first range that has a byte of [begin, end), or else null. An empty one stands for the byte at `begin`.
  [[nodiscard]] Range* first_overlap(uintptr_t begin, uintptr_t end) const;

  // Sets the tree's own fields; begin < end, and no range of the tree overlaps it.
  void insert(Range* range);
  void remove(Range* range);

  [[nodiscard]] Range* root() const { return root_; }

 private:
  Range* root_ = nullptr;
  uint32_t random_ = 2463534242;
};

}  // namespace marline::target
