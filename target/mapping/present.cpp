// SPDX-License-Identifier: Apache-2.0
//
// The data environment for regions that are sent ahead (face/ahead.cpp): they use what is there, and must not wait.
#include "mapping/mapping.hpp"
#include "mapping/plan.hpp"

namespace marline::target {

using namespace map_type;

// Whether a region has nothing to do for the item but to count its piece; null: it has none, and needs none. A piece
// that is there for other regions alone does not count: this region may come behind them, and must find the host's data
// then.
bool Mapping::is_there(const Items& items, int32_t i, Piece*& piece) const {
  uint64_t type = items.types[i];
  if (has_no_storage(type)) return true;
  bool moves = (type & kAlways) != 0 && (type & (kTo | kFrom)) != 0;
  if (moves || is_member(type) || (type & (kPointerAndObject | kReturn)) != 0) return false;
  auto begin = reinterpret_cast<uintptr_t>(items.begins[i]);
  if ((type & kAttach) != 0) {  // a pointer that is not mapped is not attached
    return find(reinterpret_cast<uintptr_t>(items.bases[i]), sizeof(void*)) == nullptr || find(begin, 0) == nullptr;
  }
  auto bytes = static_cast<size_t>(items.sizes[i]);
  piece = piece_at_end(items, i);
  if (piece == nullptr) return bytes == 0 && (type & kPresent) == 0;
  return piece->references + piece->holds != 0 || piece->forever;
}

bool Mapping::begin_present(const Items& items) {
  Guard guard(lock_);
  if (busy_count_ != 0 && busy_among(items) != nullptr) return false;
  Array<Piece*> pieces;
  for (int32_t i = 0; i < items.count; ++i) {
    Piece* piece = nullptr;
    if (!is_there(items, i, piece)) return false;
    pieces.push(piece);
  }
  ++construct_;
  of_region_ = items.of_region;
  for (int32_t i = 0; i < items.count; ++i) {
    Piece* piece = pieces[static_cast<uint32_t>(i)];
    if (piece != nullptr && is_first_count(piece, items.types[i])) ++count_for(piece, items.types[i]);
  }
  return true;
}

bool Mapping::begin_update(const Items& items, Plan& plan) {
  Guard guard(lock_);
  if (busy_count_ != 0 && busy_among(items) != nullptr) return false;
  plan_update(items, plan);
  return true;
}

bool Mapping::begin_end(const Items& items, Plan& plan) {
  Guard guard(lock_);
  if (busy_count_ != 0 && busy_among(items) != nullptr) return false;
  plan_end(items, plan);
  return true;
}

}  // namespace marline::target
