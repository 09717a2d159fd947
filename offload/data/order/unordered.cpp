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

bool is_unordered(const SubmissionOrder& order, uint64_t task) {
  return task != order.task && !order.is_ordered_after(order.of, task);
}

// Whether this map holds the last reference that is not a region's.
bool is_last(const MapEntry* entry, uint64_t type) {
  if (entry->forever || entry->holds != 0) return false;
  return (type & kDelete) != 0 || entry->references <= 1;
}

}  // namespace

// Transient maps of regions are left out: two regions with transient maps of the same data have the same result in any
// order.
void Mapping::list_unordered(const Items& items, bool exits, const SubmissionOrder& order, List<Unordered, 8>& found) {
  Guard guard(lock_);
  for (int32_t i = 0; i < items.count; ++i) {
    uint64_t type = items.types[i];
    MapEntry* entry = has_no_storage(type) || (type & kAttach) != 0 ? nullptr : entry_at_end(items, i);
    if (entry == nullptr || (entry->is_of_regions() && items.of_region)) continue;
    size_t bytes = entry->end - entry->begin;
    const InFlight* in_flight = entry->is_of_regions() ? nullptr : entry->in_flight;
    if (in_flight != nullptr && in_flight->is_sent && is_unordered(order, in_flight->task)) {
      found.push(
          {in_flight->leaves ? UnorderedUse::kOfGone : UnorderedUse::kOfMapped, in_flight->task, entry->begin, bytes});
    }
    if (!entry->is_of_regions() && !(exits && is_last(entry, type))) continue;
    for (uint64_t user : entry->users) {
      if (!is_unordered(order, user)) continue;
      found.push({exits ? UnorderedUse::kEnds : UnorderedUse::kOfMapped, user, entry->begin, bytes});
      break;
    }
  }
}

}  // namespace marline::offload::data
