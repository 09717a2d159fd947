// SPDX-License-Identifier: Apache-2.0
//
// Ranges of addresses that do not overlap, found by address: a treap (a search tree by begin that is a heap by a random
// number), so that any number of ranges costs O(log n) whatever the order in which they come and go. The nodes are the
// caller's. No lock of its own.
#pragma once

#include <cstdint>

namespace marline::offload {

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

// Ranges that are asked for again and again, one or two of them by turns: the last ones found cost no search. Looking
// for one changes the object, so that needs the caller's lock, too.
class RecentRanges {
 public:
  [[nodiscard]] Range* first_overlap(uintptr_t begin, uintptr_t end) const {
    for (Range* range : recent_) {
      if (range != nullptr && range->contains(begin, begin + 1)) return note(range);
    }
    Range* found = all_.first_overlap(begin, end);
    return found != nullptr ? note(found) : nullptr;
  }

  void insert(Range* range) { all_.insert(range); }
  void remove(Range* range) {
    for (Range*& recent : recent_) {
      if (recent == range) recent = nullptr;
    }
    all_.remove(range);
  }

  [[nodiscard]] Range* root() const { return all_.root(); }

 private:
  Range* note(Range* range) const {
    if (recent_[0] == range) return range;
    recent_[1] = recent_[0];
    recent_[0] = range;
    return range;
  }

  Ranges all_;
  mutable Range* recent_[2] = {};  // the newest one first; or null
};

}  // namespace marline::offload
