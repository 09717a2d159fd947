// SPDX-License-Identifier: Apache-2.0
//
// The data environment for early-submitted constructs (submission_order.hpp): they must not wait. Each function checks
// all items first, and changes nothing if the construct has to be left to a thread.
//
// Invariants. A map entry that an early-submitted construct fills or empties is in flight for it until the construct's
// task ends, as for constructs that wait. So constructs without an order to it wait as ever. Constructs ordered after
// it go on: an entry that it fills is there for them, and their operations are ordered after its copies; an entry that
// it empties is not there for them, and its record, which is no longer in the list, is released by the construct that
// empties it. Only one construct takes over an entry in flight, and only from a construct that it is ordered after and
// that ends before it. A transient map is an entry that exists only for early-submitted regions. It is removed at the
// end of the last region that uses it, and it is not known before which region that is. So it is in flight for none of
// these regions, but for itself: `in_flight` points to MapEntry::own. Only regions with transient maps may use it at
// the same time.
#include "data/copies.hpp"
#include "data/data_environment.hpp"
#include "data/plan.hpp"
#include "data/order/submission_order.hpp"

namespace marline::offload::data {

using namespace items;

using namespace map_type;

namespace {

bool leaves(const MapEntry* entry) { return entry->in_flight != nullptr && entry->in_flight->leaves; }

// Whether the entry is permanent or has other references than those of regions, such as that of an enter data.
bool is_kept(const MapEntry* entry) { return entry->references + entry->holds != 0 || entry->forever; }

bool is_ordered_after(const SubmissionOrder& order, const InFlight& in_flight) {
  return in_flight.is_sent && order.is_ordered_after(order.of, in_flight.task);
}

// For an entry that is being removed: whether the removal is ordered before the construct, so that the entry is gone
// for it.
bool is_over(MapEntry* entry, const SubmissionOrder& order) {
  if (!entry->is_of_regions()) return is_ordered_after(order, *entry->in_flight);
  for (uint64_t user : entry->users) {
    if (!order.is_ordered_after(order.of, user)) return false;
  }
  return true;
}

void note_sent(InFlight& in_flight, const SubmissionOrder& order) {
  in_flight.is_sent = true;
  in_flight.task = order.task;
}

bool is_user(MapEntry* entry, uint64_t task) {
  for (uint64_t user : entry->users) {
    if (user == task) return true;
  }
  return false;
}

void forget_user(MapEntry* entry, uint64_t task) {
  uint32_t i = 0;
  while (entry->users[i] != task) ++i;
  entry->users[i] = entry->users[entry->users.count() - 1];
  entry->users.shrink(entry->users.count() - 1);
}

bool has_data(uint64_t type) { return !has_no_storage(type) && (type & kAttach) == 0; }
bool has_slot(uint64_t type) { return !has_no_storage(type) && (type & (kAttach | kPointerAndObject)) != 0; }
// Whether the item maps its pointer, too. The pointer of a member lies in a structure that has an item of its own. A
// pointer that is only to be attached need not be mapped by the construct, and then the construct must not keep it
// mapped.
bool maps_slot(uint64_t type) { return has_slot(type) && has_data(type) && !is_member(type); }

// Whether the pointer is to be written although it has its value, because a kernel may have changed it. GCC asks for
// this for each pointer in a Fortran array's descriptor, too. These do not count: if a kernel changes such a pointer,
// libgomp keeps the bounds and not the pointer, so no program can rely on either.
bool is_wanted_again(uint64_t type) { return (type & (kAttach | kAlways | kDescriptor)) == (kAttach | kAlways); }

}  // namespace

// The map entry in which the item's pointer lies; null: there is none, or the item has no pointer.
MapEntry* Mapping::entry_of_slot(const Items& items, int32_t i) const {
  return has_slot(items.types[i]) ? find(reinterpret_cast<uintptr_t>(items.bases[i]), sizeof(void*)) : nullptr;
}

InFlight* Mapping::in_flight_at_slot(const Items& items, int32_t i) const {
  const MapEntry* of_slot = entry_of_slot(items, i);
  return of_slot != nullptr ? of_slot->in_flight : nullptr;
}

// Whether an `always` map copies something. It does, but for a descriptor that is on the device as it is on the host. A
// descriptor without a map entry is mapped like any other data.
bool Mapping::copies_always(const Items& items, int32_t i) const {
  uint64_t type = items.types[i];
  if ((type & kAlways) == 0 || (type & (kTo | kFrom)) == 0) return false;
  if ((type & kDescriptor) == 0) return true;
  const MapEntry* entry = entry_at_end(items, i);
  bool is_there = entry != nullptr && !leaves(entry);
  return is_there &&
         !entry->descriptors.has(reinterpret_cast<uintptr_t>(items.begins[i]), static_cast<size_t>(items.sizes[i]));
}

// Whether the item's pointer has the value that it is to get, or gets none.
bool Mapping::is_attached(const Items& items, int32_t i) const {
  AttachLater one = attachment_of(items, i);
  uint64_t value;
  MapEntry* of_slot = find_slot(one, value);
  return of_slot == nullptr || (!is_wanted_again(items.types[i]) && of_slot->attachments.has(one.slot, value));
}

// The reference count of the entry as a construct sees it: regions ordered before the construct are over.
uint64_t Mapping::count_successors(const MapEntry* entry, const SubmissionOrder* order) {
  uint64_t count = entry->count();
  if (order == nullptr) return count;
  auto* changed = const_cast<MapEntry*>(entry);
  for (uint64_t user : changed->users) count -= order->is_ordered_after(order->of, user) ? 1 : 0;
  return count;
}

// Whether no construct has the items in flight, except early-submitted constructs that fill them.
bool Mapping::is_free(const Items& items) const {
  for (int32_t i = 0; i < items.count && in_flight_count_ != 0; ++i) {
    for (const InFlight* in_flight : {in_flight_at(items, i), in_flight_at_slot(items, i)}) {
      if (in_flight != nullptr && (!in_flight->is_sent || in_flight->leaves)) return false;
    }
  }
  return true;
}

void Mapping::wait_for_copies(const Items& items, const SubmissionOrder& order) const {
  for (int32_t i = 0; i < items.count && in_flight_count_ != 0; ++i) {
    for (const InFlight* in_flight : {in_flight_at(items, i), in_flight_at_slot(items, i)}) {
      if (in_flight != nullptr && in_flight->operation != InFlight::kNoOperation)
        order.also_after(order.of, in_flight->operation);
    }
  }
}

// Whether a region only has to count references for the item. An entry that is there for other regions alone is not
// enough: this region may be ordered after them, and must find the host's data then.
bool Mapping::is_there(const Items& items, int32_t i, List<MapEntry*, 8>& counted) const {
  uint64_t type = items.types[i];
  if (has_no_storage(type)) return true;
  if (copies_always(items, i) || (type & (kReturn | kHold)) != 0) return false;
  if (has_slot(type) && !is_attached(items, i)) return false;
  if (!has_data(type)) return true;
  if (has_slot(type)) {
    MapEntry* of_slot = entry_of_slot(items, i);
    if (of_slot == nullptr || !is_kept(of_slot)) return false;
    if (maps_slot(type)) counted.push(of_slot);
  }
  MapEntry* entry = entry_at_end(items, i);
  if (entry == nullptr) return items.sizes[i] == 0 && (type & kPresent) == 0;
  counted.push(entry);
  return is_kept(entry);
}

uintptr_t Mapping::map_entry_of(const Items& items, int32_t i, bool of_pointer) {
  Guard guard(lock_);
  const MapEntry* entry = of_pointer ? entry_of_slot(items, i) : entry_at_end(items, i);
  return entry != nullptr ? entry->begin : 0;
}

bool Mapping::begin_present(const Items& items, const SubmissionOrder& order) {
  Guard guard(lock_);
  if (!is_free(items)) return false;
  List<MapEntry*, 8> entries;
  for (int32_t i = 0; i < items.count; ++i) {
    if (!is_there(items, i, entries)) return false;
  }
  begin_construct(items);
  for (MapEntry* entry : entries) {
    if (!is_first_count(entry, 0)) continue;
    ++count_for(entry, 0);
    entry->users.push(order.task);
  }
  wait_for_copies(items, order);
  return true;
}

// The end of a region that has begun early. An entry that another construct has taken, and perhaps mapped anew, is not
// ended by the region.
bool Mapping::begin_end(const Items& items, Plan& plan, uint64_t task) {
  Guard guard(lock_);
  List<MapEntry*, 8> entries;
  for (int32_t i = 0; i < items.count; ++i) {
    MapEntry* of_data = has_data(items.types[i]) ? entry_at_end(items, i) : nullptr;
    for (MapEntry* entry : {of_data, entry_of_slot(items, i)}) {
      if (entry == nullptr || !is_user(entry, task)) continue;
      bool goes = entry->count() == 1 && !entry->forever;
      if (goes && entry->in_flight != nullptr && !entry->in_flight->leaves) return false;
      entries.push(entry);
    }
  }
  begin_construct(items);
  for (MapEntry* entry : entries) {
    if (entry->is_of_regions() || !is_first_count(entry, 0)) continue;
    forget_user(entry, task);
    --entry->regions;
    if (!leaves(entry)) take_last(entry, plan);
  }
  for (int32_t i = 0; i < items.count; ++i) {
    if (!has_no_storage(items.types[i])) copy_item_back(items, i, plan);
  }
  note_in_flight(plan, true);
  leave_transient(plan, task);
  return true;
}

// A transient map is removed with the last of its regions. Called after note_in_flight, as these entries are in flight
// by their own InFlight.
void Mapping::leave_transient(Plan& plan, uint64_t task) {
  for (List<MapEntry*, 8>* entries : {&plan.filled, &plan.shared}) {
    for (MapEntry* entry : *entries) {
      forget_user(entry, task);
      if (--entry->regions != 0) continue;
      entry->next = plan.entries;
      plan.entries = entry;
    }
  }
}

bool Mapping::begin_update(const Items& items, Plan& plan, const SubmissionOrder& order) {
  Guard guard(lock_);
  if (!is_free(items)) return false;
  plan_update(items, plan);
  wait_for_copies(items, order);
  return true;
}

// Whether the construct can map the bytes without waiting. Adds to `gone` the entries that overlap the bytes and that
// are removed by constructs ordered before this one. Adds the bytes to `absent` if they need an entry.
bool Mapping::may_enter_bytes(const Absent& bytes, bool of_region, const SubmissionOrder& order,
                              List<MapEntry*, 8>& gone, List<Absent, 8>& absent) const {
  uintptr_t begin = bytes.begin, end = begin + bytes.bytes, at = begin;
  auto* entry = static_cast<MapEntry*>(entries_.first_overlap(begin, end));
  while (entry != nullptr && leaves(entry)) {
    if (begin == end) return false;
    if (!is_over(entry, order))
      return of_region && entry->is_of_regions() && at == begin && entry->contains(begin, end);
    gone.push(entry);
    at = entry->end;
    entry = at < end ? static_cast<MapEntry*>(entries_.first_overlap(at, end)) : nullptr;
  }
  if (entry != nullptr) {
    bool is_free = entry->in_flight == nullptr || entry->in_flight->is_sent;
    bool is_known = entry->contains(begin, end) || (of_region && (bytes.type & kImplicit) != 0);
    return at == begin && is_known && is_kept(entry) && is_free;
  }
  if (begin != end) absent.push(bytes);
  return (bytes.type & kPresent) == 0;
}

// Whether the construct can map the item without waiting.
bool Mapping::may_enter(const Items& items, int32_t i, const SubmissionOrder& order, List<MapEntry*, 8>& gone,
                        List<Absent, 8>& absent) const {
  uint64_t type = items.types[i];
  if (has_no_storage(type)) return true;
  if (is_wanted_again(type) || copies_always(items, i) || (type & (kReturn | kHold)) != 0) return false;
  if (!has_data(type)) return true;
  if (maps_slot(type)) {
    Absent slot = {reinterpret_cast<uintptr_t>(items.bases[i]), sizeof(void*), type & kPresent};
    if (!may_enter_bytes(slot, items.of_region, order, gone, absent)) return false;
  }
  Absent data = {reinterpret_cast<uintptr_t>(items.begins[i]), bytes_with_members(items, i), type};
  return may_enter_bytes(data, items.of_region, order, gone, absent);
}

// Creates the entries that are missing. False: the device has no memory for one of them, or one overlaps another in
// part; the entries that have been created are in the plan. A member that is not reached through a pointer is a part of
// a structure that comes before it.
bool Mapping::create_absent(List<Absent, 8>& absent, Plan& plan) {
  for (const Absent& one : absent) {
    if (Range* other = entries_.first_overlap(one.begin, one.begin + one.bytes)) {  // created for another item
      bool is_known = other->contains(one.begin, one.begin + one.bytes) || (of_region_ && (one.type & kImplicit) != 0);
      if (!is_known) return false;
      continue;
    }
    if (is_member(one.type) && (one.type & kPointerAndObject) == 0) return false;
    if (!device_->kind->early->has_room(device_, one.bytes)) return false;
    if (try_create(one.begin, one.bytes, one.type, plan) == nullptr) return false;
  }
  return true;
}

// Whether all pointers of the items can be attached now. A pointer is written only in an entry that the construct has
// created, which only the construct's copies fill. In other entries the pointer must be attached already, as concurrent
// constructs may read it. An entry in flight for a construct that blocks does not do: such a construct records a
// pointer as attached before it is.
bool Mapping::may_attach(const Items& items, const Plan& plan) const {
  for (int32_t i = 0; i < items.count; ++i) {
    const MapEntry* of_slot = entry_of_slot(items, i);
    if (of_slot == nullptr && has_slot(items.types[i]) && has_data(items.types[i])) return false;
    if (of_slot == nullptr || of_slot->in_flight == &plan.in_flight) continue;
    if ((of_slot->in_flight != nullptr && !of_slot->in_flight->is_sent) || !is_attached(items, i)) return false;
  }
  return true;
}

// Attaches the pointers in the entries that the construct has created. In other entries they are attached already, also
// if the program wants them to be attached always.
void Mapping::attach_new(Plan& plan) {
  for (AttachLater one : plan.attachments) {
    one.always = false;
    attach(one, plan);
  }
}

// True: all data that the construct maps has an entry. False: nothing has changed, but plan.entries are to be released.
bool Mapping::make_way(const Items& items, Plan& plan, const SubmissionOrder& order) {
  List<MapEntry*, 8> gone;
  List<Absent, 8> absent;
  for (int32_t i = 0; i < items.count; ++i) {
    if (!may_enter(items, i, order, gone, absent)) return false;
  }
  begin_construct(items);
  for (MapEntry* entry : gone) {
    if (!entry->is_off_list) take_off_list(entry);
    entry->is_off_list = true;
  }
  if (!create_absent(absent, plan) || !may_attach(items, plan)) {
    for (MapEntry* entry = plan.entries; entry != nullptr; entry = entry->next) take_off_list(entry);
    for (MapEntry* entry : gone) {
      if (entry->is_off_list) entries_.insert(entry);
      entry->is_off_list = false;
    }
    return false;
  }
  for (MapEntry* entry = plan.entries; entry != nullptr; entry = entry->next) plan.filled.push(entry);
  return true;
}

void Mapping::release_entries(Plan& plan) {
  while (MapEntry* entry = plan.entries) {
    plan.entries = entry->next;
    release_entry(entry);
  }
}

bool Mapping::begin_enter(const Items& items, Plan& plan, const SubmissionOrder& order) {
  {
    Guard guard(lock_);
    if (make_way(items, plan, order)) {
      add(items, plan);
      attach_new(plan);
      note_in_flight(plan, false);
      note_sent(plan.in_flight, order);
      plan.entries = nullptr;
      return true;
    }
  }
  release_entries(plan);
  return false;
}

// Counts the region in the entry. An entry that the region has created counts it already.
void Mapping::count_transient(MapEntry* entry, Plan& plan, const SubmissionOrder& order) {
  if (!is_first_count(entry, 0)) return;
  ++entry->regions;
  if (entry->is_of_regions()) plan.shared.push(entry);
  for (uint64_t user : entry->users) {
    if (entry->is_of_regions()) plan.sharers.push(user);
  }
  entry->users.push(order.task);
}

void Mapping::use_transient(const Items& items, int32_t i, Plan& plan, const SubmissionOrder& order) {
  uint64_t type = items.types[i];
  if (has_slot(type)) plan.attachments.push(attachment_of(items, i));
  MapEntry *of_data = has_data(type) ? entry_at_end(items, i) : nullptr, *of_slot = entry_of_slot(items, i);
  for (MapEntry* entry : {of_data, of_slot}) {
    if (entry == nullptr) continue;
    if (entry == of_data || maps_slot(type)) count_transient(entry, plan, order);
    bool is_created = entry->in_flight == &plan.in_flight;
    if (!is_created && entry->in_flight != nullptr && entry->in_flight->operation != InFlight::kNoOperation)
      order.also_after(order.of, entry->in_flight->operation);
  }
}

// Called when pointers are attached, which no copy touches.
void Mapping::copy_transient(const Items& items, int32_t i, Plan& plan) const {
  uint64_t type = items.types[i];
  MapEntry* entry = has_data(type) ? entry_at_end(items, i) : nullptr;
  if (entry == nullptr) return;
  auto begin = reinterpret_cast<uintptr_t>(items.begins[i]);
  auto bytes = static_cast<size_t>(items.sizes[i]);
  bool is_created = entry->in_flight == &plan.in_flight, is_transient = is_created || entry->is_of_regions();
  if (is_created && (type & kTo) != 0) copy_item(*entry, begin, bytes, type, plan);
  if (is_transient && (type & kFrom) != 0) copy_around(*entry, begin, bytes, plan.copies_back);
}

bool Mapping::begin_transient(const Items& items, Plan& plan, const SubmissionOrder& order) {
  {
    Guard guard(lock_);
    if (make_way(items, plan, order)) {
      for (int32_t i = 0; i < items.count; ++i) use_transient(items, i, plan, order);
      attach_new(plan);
      for (int32_t i = 0; i < items.count; ++i) copy_transient(items, i, plan);
      for (MapEntry* entry : plan.filled) {
        entry->in_flight = &entry->own;
        note_sent(entry->own, order);
        entry->own.leaves = true;
        entry->own.bytes = entry->end - entry->begin;
        entry->users.push(order.task);
        ++in_flight_count_;
      }
      plan.entries = nullptr;
      return true;
    }
  }
  release_entries(plan);
  return false;
}

void Mapping::note_filling(Plan& plan, uint64_t filled_by) {
  for (MapEntry* entry : plan.filled) entry->own.operation = filled_by;
}

void Mapping::finish_enter(Plan& plan) {
  if (plan.filled.count() == 0) return;
  Guard guard(lock_);
  --in_flight_count_;
  for (MapEntry* entry : plan.filled) {
    if (entry->in_flight == &plan.in_flight) entry->in_flight = nullptr;
    entry->empty = false;
  }
  wake(&plan.in_flight);
}

bool Mapping::may_exit(const Items& items, int32_t i, const SubmissionOrder& order) const {
  uint64_t type = items.types[i];
  if (!has_data(type)) return true;
  if ((type & kHold) != 0) return false;
  if (maps_slot(type) && !may_leave(entry_of_slot(items, i), 0, order)) return false;
  return may_leave(entry_at_end(items, i), type, order);
}

bool Mapping::may_leave(MapEntry* entry, uint64_t type, const SubmissionOrder& order) {
  if (entry == nullptr || leaves(entry)) {
    return (type & kPresent) == 0 && (entry == nullptr || is_over(entry, order));
  }
  if (entry->in_flight != nullptr && !is_ordered_after(order, *entry->in_flight)) return false;
  return is_kept(entry) || (type & kAlways) == 0;
}

bool Mapping::begin_exit(const Items& items, Plan& plan, const SubmissionOrder& order) {
  Guard guard(lock_);
  for (int32_t i = 0; i < items.count; ++i) {
    if (!may_exit(items, i, order)) return false;
  }
  begin_construct(items);
  of_region_ = false;
  plan.order = &order;
  subtract(items, plan);
  plan.order = nullptr;
  note_in_flight(plan, true);
  note_sent(plan.in_flight, order);
  return true;
}

}  // namespace marline::offload::data
