// SPDX-License-Identifier: Apache-2.0
//
// Removes map entries.
#include "data/map_table.hpp"

#include "base/make.hpp"

namespace marline::offload::data {

namespace {

void list_in_flight(Range* tree, IntrusiveList<MapEntry>& list) {
  if (tree == nullptr) return;
  auto* entry = static_cast<MapEntry*>(tree);
  if (entry->in_flight != nullptr) list.push_first(entry);
  list_in_flight(tree->left, list);
  list_in_flight(tree->right, list);
}

}  // namespace

void MapTable::release(MapEntry* entry) {
  storage_.release(entry);
  destroy(entry);
}

// Searches all entries, as the list of the entries of an InFlight lies on a stack that does not exist in the child. An
// entry that was being removed has no references left. If the device is in another process, the child has lost it, and
// the device's operations go on for the parent: then no pointer is written to the device.
void MapTable::drop_in_flight() {
  IntrusiveList<MapEntry> list;
  list_in_flight(entries_.root(), list);
  for (MapEntry* entry : list) {
    entry->in_flight = nullptr;
    if (entry->empty || entry->counts.is_zero()) {
      take_off(entry);
      release(entry);
      continue;
    }
    entry->descriptors.clear();  // a descriptor may not have been copied
    Attachments::Sweep sweep = entry->attachments.sweep_from(entry->begin);
    while (uintptr_t slot = device_->lost ? 0 : entry->attachments.next(sweep, entry->end)) {
      uint64_t value = entry->attachments.value_of(slot);
      device_->kind->write(device_, entry->on_device(slot), &value, sizeof value);
    }
  }
  in_flight_count_ = 0;
}

}  // namespace marline::offload::data
