// SPDX-License-Identifier: Apache-2.0
//
// A set of address ranges that do not overlap, searched by address. It is a treap (a search tree by begin that is a
// heap by a random number), so an operation on any number of ranges takes O(log n), in whatever order ranges come and
// go. The nodes are the caller's. The set has no lock of its own.
#pragma once

#include <cstdint>

namespace marline::offload {

struct Range {
  uintptr_t begin;
  uintptr_t end;  // address after the last byte
  Range* left;
  Range* right;
  uint32_t heat;  // random; that of a parent >= that of its children

  [[nodiscard]] bool contains(uintptr_t first, uintptr_t after) const { return begin <= first && after <= end; }
};

class Ranges {
 public:
  // The first range that has a byte in [begin, end), or null. If [begin, end) is empty, it stands for the byte at
  // `begin`.
  [[nodiscard]] Range* first_overlap(uintptr_t begin, uintptr_t end) const;

  // Sets the fields that the tree uses. begin < end must hold, and no range of the tree may overlap the new one.
  void insert(Range* range);
  void remove(Range* range);

  [[nodiscard]] Range* root() const { return root_; }

 private:
  Range* root_ = nullptr;
  uint32_t random_ = 2463534242;
};

// Ranges for callers that look for the same one or two ranges again and again: the two ranges that were found last need
// no search. Looking for a range changes the object, so it also needs the caller's lock.
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
  mutable Range* recent_[2] = {};  // the range that was found last comes first; null: none
};

}  // namespace marline::offload
