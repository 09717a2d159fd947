// SPDX-License-Identifier: Apache-2.0
//
// For a checking mode: finds what an early-submitted construct does with data that other constructs, to which it has no
// order, map, use or remove. The environment counts in the order of creation, so the result is the same in each run
// here; with a runtime that counts when constructs run, the result differs now and then.
#include "base/lock.hpp"
#include "data/data_environment.hpp"
#include "data/order/submission_order.hpp"

namespace marline::offload::data {

using namespace device;
using namespace items;

using namespace map_type;

namespace {

bool is_unordered(const Sent& sent, uint64_t task) { return task != sent.task && !sent.is_behind(sent.of, task); }

// Whether this map holds the last reference that is not a region's.
bool is_last(const Piece* piece, uint64_t type) {
  if (piece->forever || piece->holds != 0) return false;
  return (type & kDelete) != 0 || piece->references <= 1;
}

}  // namespace

// Transient maps of regions are left out: two regions with transient maps of the same data have the same result in any
// order.
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
