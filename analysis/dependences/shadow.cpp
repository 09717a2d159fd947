// SPDX-License-Identifier: Apache-2.0
#include "shadow.hpp"

#include <algorithm>

namespace marline::dependences {

uint32_t MutexSets::number(const std::vector<uint64_t>& mutexes) {
  const auto [at, is_new] = numbers_.try_emplace(mutexes, static_cast<uint32_t>(sets_.size()));
  if (is_new) sets_.push_back(mutexes);
  return at->second;
}

bool MutexSets::have_common(uint32_t a, uint32_t b) const {
  if (a == 0 || b == 0) return false;
  return std::any_of(sets_[a].begin(), sets_[a].end(),
                     [&](uint64_t mutex) { return std::binary_search(sets_[b].begin(), sets_[b].end(), mutex); });
}

bool MutexSets::is_within(uint32_t a, uint32_t b) const {
  return a == b || std::includes(sets_[b].begin(), sets_[b].end(), sets_[a].begin(), sets_[a].end());
}

void Shadow::split(uint64_t at) {
  auto after = pieces_.upper_bound(at);
  if (after == pieces_.begin()) return;
  auto piece = std::prev(after);
  if (piece->first == at || piece->second.high <= at) return;
  pieces_.emplace_hint(after, at, piece->second);
  piece->second.high = at;
}

void Shadow::add_to(uint64_t low, Piece& piece, const Access& access) {
  bool is_new = true;
  std::erase_if(piece.accesses, [&](const Access& earlier) {
    const bool conflicts =
        ((earlier.flags | access.flags) & kWrites) != 0 && (earlier.flags & access.flags & kIsAtomic) == 0;
    // Of two reads the order is not asked for: a variable that all tasks read would cost a search for each pair of
    // them.
    const bool is_ordered = earlier.task == access.task || (conflicts && graph_.has_path(earlier.node, access.node));
    if (conflicts && !is_ordered && !mutexes_.have_common(earlier.mutexes, access.mutexes))
      on_conflict_(low, piece.high, earlier, access);
    const bool is_covered = (access.flags & kWrites) >= (earlier.flags & kWrites) &&
                            (access.flags & kIsAtomic) <= (earlier.flags & kIsAtomic) &&
                            mutexes_.is_within(access.mutexes, earlier.mutexes);
    if (earlier.node == access.node && earlier.flags == access.flags && earlier.mutexes == access.mutexes)
      is_new = false;
    return is_ordered && is_covered && is_new;
  });
  if (is_new) piece.accesses.push_back(access);
}

void Shadow::add(uint64_t low, uint64_t high, const Access& access) {
  split(low);
  split(high);
  auto piece = pieces_.lower_bound(low);
  while (low < high) {
    if (piece == pieces_.end() || piece->first > low) {
      const uint64_t end = piece == pieces_.end() ? high : std::min(high, piece->first);
      piece = pieces_.emplace_hint(piece, low, Piece{end, {}});
    }
    add_to(low, piece->second, access);
    low = piece->second.high;
    ++piece;
  }
}

void Shadow::forget(uint64_t low, uint64_t high) {
  split(low);
  split(high);
  pieces_.erase(pieces_.lower_bound(low), pieces_.lower_bound(high));
}

}  // namespace marline::dependences
