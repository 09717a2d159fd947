// SPDX-License-Identifier: Apache-2.0
//
// How constructs wait for map entries in flight, which other constructs fill or empty (see data_environment.hpp). A
// waiter lies on its construct's stack. It is woken under the lock, so the list never holds a waiter that is gone.
#include "device/contract/wait.hpp"
#include "data/copies.hpp"
#include "data/data_environment.hpp"
#include "data/plan.hpp"

namespace marline::offload::data {

using namespace device;
using namespace items;

struct Waiter {
  marline_event_t event;
  Waiter* next;
};

InFlight* Mapping::in_flight_at(const Items& items, int32_t i) const {
  if (has_no_storage(items.types[i])) return nullptr;
  auto begin = reinterpret_cast<uintptr_t>(items.begins[i]);
  auto base = reinterpret_cast<uintptr_t>(items.bases[i]);
  auto bytes = static_cast<size_t>(items.sizes[i]);
  if ((items.types[i] & map_type::kNonContiguous) != 0) begin = begin_of_parts(items, i), bytes = 0;
  Range* ranges[] = {entries_.first_overlap(begin, begin + bytes),
                     (items.types[i] & (map_type::kPointerAndObject | map_type::kAttach)) != 0
                         ? entries_.first_overlap(base, base + 8)
                         : nullptr};
  for (Range* range : ranges) {
    InFlight* in_flight = range != nullptr ? static_cast<MapEntry*>(range)->in_flight : nullptr;
    if (in_flight != nullptr) return in_flight;
  }
  return nullptr;
}

InFlight* Mapping::in_flight_among(const Items& items) const {
  for (int32_t i = 0; i < items.count; ++i) {
    if (InFlight* in_flight = in_flight_at(items, i)) return in_flight;
  }
  return nullptr;
}

// From now on, other constructs may find the construct's entries in flight, and wait for them.
void Mapping::note_in_flight(Plan& plan, bool leaves) {
  if (plan.entries == nullptr) return;
  ++in_flight_count_;
  plan.in_flight.leaves = leaves;
  for (const Transfer& copy : plan.copies) plan.in_flight.bytes += copy.bytes;
}

// Called and left with the lock. True: it has waited without the lock, so everything may have changed.
bool Mapping::wait_for_in_flight(const Items& items) {
  InFlight* in_flight = in_flight_count_ != 0 ? in_flight_among(items) : nullptr;
  if (in_flight == nullptr) return false;
  wait(in_flight);
  return true;
}

void Mapping::wait(InFlight* in_flight) {
  Waiter self = {MARLINE_EVENT_INIT, in_flight->waiters};
  marline_event_init(&self.event);
  in_flight->waiters = &self;
  const char* what = in_flight->leaves ? "data on its way from" : "data on its way to";
  size_t bytes = in_flight->bytes;
  lock_.release();  // from here on `in_flight` may be gone with its construct's stack
  wait_for_event(&self.event, device_, what, bytes);
  lock_.take();
}

void Mapping::wake(InFlight* in_flight) {
  for (Waiter* waiter = in_flight->waiters; waiter != nullptr;) {
    Waiter* next = waiter->next;  // the waiter may be gone once it is woken
    marline_event_fulfill(&waiter->event);
    waiter = next;
  }
}

namespace {

void list_in_flight(Range* tree, MapEntry*& list) {
  if (tree == nullptr) return;
  auto* entry = static_cast<MapEntry*>(tree);
  if (entry->in_flight != nullptr) {
    entry->next = list;
    list = entry;
  }
  list_in_flight(tree->left, list);
  list_in_flight(tree->right, list);
}

}  // namespace

// The list of entries of an InFlight is on a stack that does not exist in the child, so all entries are searched. An
// entry that was being removed has no references left. A device in another process is lost in the child: the device's
// operations go on for the parent, and nothing is written here.
void Mapping::drop_in_flight() {
  MapEntry* list = nullptr;
  list_in_flight(entries_.root(), list);
  while (list != nullptr) {
    MapEntry* entry = list;
    list = entry->next;
    entry->in_flight = nullptr;
    if (entry->empty || (entry->count() == 0 && !entry->forever)) {
      remove_entry(entry);
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
