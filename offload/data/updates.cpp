// SPDX-License-Identifier: Apache-2.0
//
// Carries out target update.
#include "device/contract/tell.hpp"
#include "data/copies.hpp"
#include "data/mapper.hpp"
#include "data/data_environment.hpp"
#include "data/plan.hpp"

namespace marline::offload::data {

using namespace items;

using namespace map_type;

void Mapping::plan_update(const Items& items, Plan& plan) {
  begin_construct(items);
  for (int32_t i = 0; i < items.count; ++i) {
    uint64_t type = items.types[i];
    if (has_no_storage(type) || (type & kAttach) != 0) continue;
    if ((type & (kTo | kFrom)) == 0) continue;  // a structure; its members follow
    bool in_parts = (type & kNonContiguous) != 0;
    uintptr_t begin = in_parts ? begin_of_parts(items, i) : reinterpret_cast<uintptr_t>(items.begins[i]);
    size_t bytes = in_parts ? 0 : static_cast<size_t>(items.sizes[i]);
    MapEntry* entry = find(begin, bytes);
    if (entry == nullptr && (type & kPresent) != 0) {
      refuse_absent("target update", begin, bytes);
    }
    if (entry == nullptr) continue;
    List<Transfer, 8>& copies = (type & kFrom) != 0 ? plan.copies_back : plan.copies;
    if (in_parts) {
      entry->descriptors.clear();
      uintptr_t outside = copy_parts(*entry, items, i, copies);
      if (outside != 0) refuse_outside(outside, *entry);
    } else {
      entry->descriptors.forget(begin, bytes);
      copy_around(*entry, begin, bytes, copies);
    }
  }
}

void Mapping::update(const Items& items) {
  if (shared_) return;
  if (items.mappers == nullptr) return update_expanded(items);
  Expansion expansion(items);
  update_expanded(expansion.items());
}

void Mapping::update_expanded(const Items& items) {
  Plan plan;
  lock_.take();
  while (wait_for_in_flight(items)) {
  }
  plan_update(items, plan);
  lock_.release();
  make_copies(device_, plan.copies, true, items.reported);
  make_copies(device_, plan.copies_back, false, items.reported);
}

}  // namespace marline::offload::data
