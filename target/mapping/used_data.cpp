// SPDX-License-Identifier: Apache-2.0
//
// See the header.
#include "mapping/used_data.hpp"

#include <algorithm>
#include <tuple>

namespace marline::target {

bool UsedData::Used::operator<(const Used& other) const {
  return std::tie(piece, type, begin, end) < std::tie(other.piece, other.type, other.begin, other.end);
}

void UsedData::add(Mapping& mapping, const Items& items) {
  for (int32_t i = 0; i < items.count; ++i) {
    if (has_no_storage(items.types[i]) || (items.types[i] & map_type::kAttach) != 0) continue;
    auto begin = reinterpret_cast<uintptr_t>(items.begins[i]);
    uintptr_t piece = mapping.piece_of(items, i);
    if (piece == 0) continue;
    Used used = {piece, begin, begin + static_cast<size_t>(items.sizes[i]), items.types[i] & map_type::kFrom};
    if (!ranges_.is_empty() && !(ranges_.back() < used) && !(used < ranges_.back())) continue;
    ranges_.push(used);
  }
}

void UsedData::join() {
  std::sort(ranges_.begin(), ranges_.end());
  List<Used> joined;
  for (const Used& used : ranges_) {
    Used* last = joined.is_empty() ? nullptr : &joined.back();
    bool goes_on = last != nullptr && last->piece == used.piece && last->type == used.type && used.begin <= last->end;
    if (goes_on) {
      last->end = std::max(last->end, used.end);
    } else {
      joined.push(used);
    }
  }
  ranges_.swap(joined);
}

void UsedData::list_items(ItemList& to) const {
  for (const Used& used : ranges_) {
    auto* begin = reinterpret_cast<void*>(used.begin);
    to.push(begin, begin, static_cast<int64_t>(used.end - used.begin), used.type);
  }
}

}  // namespace marline::target
