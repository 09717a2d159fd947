// SPDX-License-Identifier: Apache-2.0
//
// For a checking mode: what a construct that is sent ahead does with data that others, which it is not ordered behind,
// map, use or take away. The environment counts in the order of creation, so the result is the same in each run here; a
// runtime that counts when constructs run gives another one now and then.
#include "base/lock.hpp"
#include "data/data_environment.hpp"
#include "data/order/submission_order.hpp"

namespace marline::offload::data {

using namespace device;
using namespace items;

using namespace map_type;

namespace {

bool is_unordered(const Sent& sent, uint64_t task) { return task != sent.task && !sent.is_behind(sent.of, task); }

// Nobody but regions would map the piece behind the end of this map.
bool is_last(const Piece* piece, uint64_t type) {
  if (piece->forever || piece->holds != 0) return false;
  return (type & kDelete) != 0 || piece->references <= 1;
}

}  // namespace

// Data that regions bring for themselves is theirs: two of them that bring the same do what they do in any order.
void Mapping::list_unordered(const Items& items, bool exits, const Sent& sent, Array<Unordered>& found) {
  Guard guard(lock_);
  for (int32_t i = 0; i < items.count; ++i) {
    uint64_t type = items.types[i];
    Piece* piece = has_no_storage(type) || (type & kAttach) != 0 ? nullptr : piece_at_end(items, i);
    if (piece == nullptr || (piece->is_of_regions() && items.of_region)) continue;
    size_t bytes = piece->end - piece->begin;
    const Busy* busy = piece->is_of_regions() ? nullptr : piece->busy;
    if (busy != nullptr && busy->is_sent && is_unordered(sent, busy->task)) {
      found.push({busy->leaves ? UnorderedUse::kOfGone : UnorderedUse::kOfMapped, busy->task, piece->begin, bytes});
    }
    if (!piece->is_of_regions() && !(exits && is_last(piece, type))) continue;
    for (uint64_t user : piece->users) {
      if (!is_unordered(sent, user)) continue;
      found.push({exits ? UnorderedUse::kEnds : UnorderedUse::kOfMapped, user, piece->begin, bytes});
      break;
    }
  }
}

}  // namespace marline::offload::data
