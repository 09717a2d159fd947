// SPDX-License-Identifier: Apache-2.0
//
// Searches and changes the treap (Seidel and Aragon, "Randomized search trees", 1996).
#include "base/ranges.hpp"

namespace marline::offload {

namespace {

// Joins two trees. All ranges of `low` lie before all ranges of `high`.
Range* join(Range* low, Range* high) {
  if (low == nullptr) return high;
  if (high == nullptr) return low;
  if (low->heat >= high->heat) {
    low->right = join(low->right, high);
    return low;
  }
  high->left = join(low, high->left);
  return high;
}

// Splits a tree into `low`, with the ranges that begin before `at`, and `high`, with the other ranges.
void split(Range* tree, uintptr_t at, Range*& low, Range*& high) {
  if (tree == nullptr) {
    low = high = nullptr;
  } else if (tree->begin < at) {
    low = tree;
    split(tree->right, at, low->right, high);
  } else {
    high = tree;
    split(tree->left, at, low, high->left);
  }
}

}  // namespace

Range* Ranges::first_overlap(uintptr_t begin, uintptr_t end) const {
  if (end <= begin) end = begin + 1;
  Range* found = nullptr;
  for (Range* range = root_; range != nullptr;) {
    if (range->end > begin) {
      found = range;
      range = range->left;
    } else {
      range = range->right;
    }
  }
  return found != nullptr && found->begin < end ? found : nullptr;
}

void Ranges::insert(Range* range) {
  random_ ^= random_ << 13;  // Marsaglia, "Xorshift RNGs", 2003
  random_ ^= random_ >> 17;
  random_ ^= random_ << 5;
  range->heat = random_;
  range->left = range->right = nullptr;
  Range *low, *high;
  split(root_, range->begin, low, high);
  root_ = join(join(low, range), high);
}

void Ranges::remove(Range* range) {
  Range** link = &root_;
  while (*link != range) link = range->begin < (*link)->begin ? &(*link)->left : &(*link)->right;
  *link = join(range->left, range->right);
}

}  // namespace marline::offload
