// SPDX-License-Identifier: Apache-2.0
//
// Bisection that remembers the last two places. Each search keeps to one invariant: the place that it returns lies in
// [low, low + length].
#include "search.h"

namespace {

constexpr int64_t kNear = 8, kFar = 256;  // so far after a place that was found, the next key may stand

template <typename Key>
struct Sorted {
  const Key* items;
  int64_t count;
};

struct Range {
  int64_t low, length;
};

template <typename Key, bool kOrEqual>
bool comes_before(Key item, Key key) {
  return kOrEqual ? item <= key : item < key;
}

// Whether the place of the key lies in the range, which may be longer than what is left.
template <typename Key, bool kOrEqual>
bool is_in(const Sorted<Key>& sorted, Range range, Key key) {
  const int64_t end = range.low + range.length;
  return (range.low == 0 || comes_before<Key, kOrEqual>(sorted.items[range.low - 1], key)) &&
         (end >= sorted.count || !comes_before<Key, kOrEqual>(sorted.items[end], key));
}

template <typename Key, bool kOrEqual>
int64_t bisect(const Sorted<Key>& sorted, Range in, Key key) {
  while (in.length > 0) {
    const int64_t half = in.length / 2;
    const bool is_after = comes_before<Key, kOrEqual>(sorted.items[in.low + half], key);
    in = {is_after ? in.low + half + 1 : in.low, is_after ? in.length - half - 1 : half};
  }
  return in.low;
}

template <typename Key, bool kOrEqual>
void search(const Sorted<Key>& sorted, const Key* keys, int64_t keys_count, int64_t* places) {
  int64_t last = 0, before = 0;  // the places of the last key, and of one before it
  for (int64_t at = 0; at < keys_count; ++at) {
    const Key key = keys[at];
    Range in{last, kNear};
    if (!is_in<Key, kOrEqual>(sorted, in, key)) {
      in = {before, kNear};
      if (!is_in<Key, kOrEqual>(sorted, in, key)) in = {last, kFar};
      if (in.length == kFar && !is_in<Key, kOrEqual>(sorted, in, key)) in = {0, sorted.count};
      before = last;
    }
    if (in.length > sorted.count - in.low) in.length = sorted.count - in.low;
    places[at] = last = bisect<Key, kOrEqual>(sorted, in, key);
  }
}

template <typename Key>
int64_t search_for(const Sorted<Key>& sorted, const Key* keys, int64_t keys_count, int64_t wanted, int64_t* places) {
  if (wanted == kMarlineLessEqual) {
    search<Key, true>(sorted, keys, keys_count, places);
    return 0;
  }
  if (wanted != kMarlineLess && wanted != kMarlineSame) return -1;
  search<Key, false>(sorted, keys, keys_count, places);
  if (wanted == kMarlineLess) return 0;
  for (int64_t at = 0; at < keys_count; ++at) {
    const bool is_there = places[at] < sorted.count && sorted.items[places[at]] == keys[at];
    if (!is_there) places[at] = -1;
  }
  return 0;
}

}  // namespace

int64_t marline_search_signed(const int64_t* sorted, int64_t count, const int64_t* keys, int64_t keys_count,
                              int64_t wanted, int64_t* places) {
  return search_for<int64_t>({sorted, count}, keys, keys_count, wanted, places);
}

int64_t marline_search_unsigned(const uint64_t* sorted, int64_t count, const uint64_t* keys, int64_t keys_count,
                                int64_t wanted, int64_t* places) {
  return search_for<uint64_t>({sorted, count}, keys, keys_count, wanted, places);
}
