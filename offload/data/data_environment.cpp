// SPDX-License-Identifier: Apache-2.0
//
// Maps and unmaps the data of constructs. A construct goes through its items under the lock and writes down what is to
// be copied; then it makes the copies without the lock. Pointers are attached after all copies, because compilers also
// name an attached pointer before the object that it lies in.
#include "data/data_environment.hpp"

#include "base/make.hpp"
#include "base/forks.hpp"
#include "device/contract/tell.hpp"
#include "device/contract/users_memory.hpp"
#include "data/copies.hpp"
#include "data/mapper.hpp"
#include "data/plan.hpp"

#include <algorithm>
#include <cassert>
#include <new>

namespace marline::offload::data {

namespace {

using namespace map_type;

uintptr_t address_of(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); }

// The value that the pointer of item i had when the program reached the construct; 0: it is not known. Clang 22 gives a
// deferred construct the address of a pointer on a stack that may be gone when the construct runs; other data may lie
// there by then, and be mapped. The item of the section, which comes before, has the pointer's value as its base.
uintptr_t pointer_of_attachment(const Items& items, int32_t i) {
  if (items.own_bases || i == 0) return 0;
  bool has_section = items.begins[i - 1] == items.begins[i] && (items.types[i - 1] & kAttach) == 0;
  return has_section ? address_of(items.bases[i - 1]) : 0;
}

// Marks the map entry as in flight for the construct, which has waited until the entry is not in flight for another
// one. Only an early-submitted construct may take over an entry in flight, from an enter data that it is ordered after.
void make_in_flight(MapEntry* entry, Plan& plan) {
  if (entry->in_flight == &plan.in_flight) return;
  assert(entry->in_flight == nullptr || plan.order != nullptr);
  entry->in_flight = &plan.in_flight;
  entry->next = plan.entries;
  plan.entries = entry;
}

// Whether another construct is removing the entry. Only an early-submitted construct that is ordered after the removal
// meets such an entry.
bool is_gone(const MapEntry* entry, const Plan& plan) {
  return entry->in_flight != nullptr && entry->in_flight->leaves && entry->in_flight != &plan.in_flight;
}

// Whether the item is a structure and is followed by the items of its members.
bool has_members(const Items& items, int32_t i) {
  return !is_member(items.types[i]) && i + 1 < items.count && is_member(items.types[i + 1]);
}

// Whether only regions have references to the entry. An early-submitted exit data does not remove such an entry, which
// goes with the last of these regions.
bool is_for_regions_alone(const MapEntry* entry, const Plan& plan) {
  return plan.order != nullptr && entry->references + entry->holds == 0 && !entry->forever;
}

}  // namespace

Mapping::Mapping(Device* device) : device_(device) { hold_across_forks(lock_, ForkOrder::kMapping); }

// The extent of the members counts, too: Clang 14 and 16 leave out the end of some structures.
size_t Mapping::bytes_with_members(const Items& items, int32_t i) {
  uintptr_t begin = address_of(items.begins[i]);
  auto bytes = static_cast<size_t>(items.sizes[i]);
  if (is_member(items.types[i])) return bytes;
  for (int32_t k = i + 1; k < items.count && items.types[k] >> kMemberShift == static_cast<uint64_t>(i) + 1; ++k) {
    if ((items.types[k] & (kPointerAndObject | kAttach)) != 0 || has_no_storage(items.types[k])) continue;
    uintptr_t end = address_of(items.begins[k]) + static_cast<size_t>(items.sizes[k]);
    if (end > begin) bytes = std::max(bytes, end - begin);
  }
  return bytes;
}

// The map entry that contains the bytes, or null. An entry that overlaps them only in part is not found.
MapEntry* Mapping::find(uintptr_t begin, size_t bytes) const {
  auto* entry = static_cast<MapEntry*>(entries_.first_overlap(begin, begin + bytes));
  return entry != nullptr && entry->contains(begin, begin + bytes) ? entry : nullptr;
}

MapEntry* Mapping::create(uintptr_t begin, size_t bytes, uint64_t type, Plan& plan) {
  MapEntry* entry = try_create(begin, bytes, type, plan);
  if (entry == nullptr) refuse_for_memory(source_, "a map of", bytes);
  return entry;
}

// Returns null if the device has no memory for the entry.
MapEntry* Mapping::try_create(uintptr_t begin, size_t bytes, uint64_t type, Plan& plan) {
  auto* entry = make<MapEntry>("the list of mapped data");
  entry->begin = begin;
  entry->end = begin + bytes;
  if (!locate(entry, plan)) {
    entry->~MapEntry();
    std::free(entry);
    return nullptr;
  }
  count_for(entry, type) = 1;
  ((type & kHold) != 0 ? entry->held_by : entry->counted_by) = construct_;
  entry->empty = true;
  entry->source = source_;
  make_in_flight(entry, plan);
  entries_.insert(entry);
  attach_wanted(entry, plan);
  return entry;
}

// `fresh`: this construct has created the map entry, for this item or for a structure around it, so its data is to be
// copied.
MapEntry* Mapping::find_or_create(uintptr_t begin, size_t bytes, uint64_t type, bool count, Plan& plan, bool& fresh) {
  fresh = false;
  auto* entry = static_cast<MapEntry*>(entries_.first_overlap(begin, begin + bytes));
  if (entry != nullptr && (entry->contains(begin, begin + bytes) || (type & kImplicit) != 0)) {
    fresh = entry->in_flight == &plan.in_flight;
    if (count && is_first_count(entry, type)) ++count_for(entry, type);
    return entry;
  }
  if (entry != nullptr && (type & kPresent) == 0) {
    refuse_overlap(begin, bytes, *entry);
  }
  if ((type & kPresent) != 0) refuse_absent("a map", begin, bytes);
  if (bytes == 0) return nullptr;
  fresh = true;
  return create(begin, bytes, type, plan);
}

// The attachment for an item that has a pointer.
AttachLater Mapping::attachment_of(const Items& items, int32_t i) {
  bool attaches_only = (items.types[i] & kAttach) != 0;
  bool always = attaches_only && (items.types[i] & kAlways) != 0;
  uintptr_t pointer = attaches_only ? pointer_of_attachment(items, i) : 0;
  return {address_of(items.bases[i]), address_of(items.begins[i]), always, pointer, items.own_bases};
}

// Finds the map entry of a pointer that is to be attached, and the value that the pointer gets on the device. The
// pointer may also point to a place in front of its section. Null: the pointer is not attached. Only a pointer that is
// mapped is attached. The construct has mapped the data that it points to, unless that is a section without elements:
// then the pointer keeps its value (OpenMP 5.2, 5.8.6).
MapEntry* Mapping::find_slot(const AttachLater& one, uint64_t& value) const {
  MapEntry* of_slot = find(one.slot, sizeof(void*));
  MapEntry* of_pointee = find(one.pointee, 0);
  if (of_slot == nullptr || of_pointee == nullptr) return nullptr;
  uintptr_t pointer = *reinterpret_cast<uintptr_t*>(one.slot);
  if (one.pointer != 0 && pointer != one.pointer) return nullptr;
  if (!of_pointee->contains(pointer, pointer + 1)) device_->has_far_pointers.store(true, std::memory_order_relaxed);
  value = of_pointee->on_device(one.pointee) - (one.pointee - pointer);
  return of_slot;
}

void Mapping::attach(const AttachLater& one, Plan& plan) {
  uint64_t value;
  want(one);
  MapEntry* of_slot = find_slot(one, value);
  if (of_slot == nullptr || (!of_slot->attachments.note(one.slot, value) && !one.always)) return;
  plan.slots.push({of_slot->on_device(one.slot), value, of_slot->is_filled_now()});
  make_in_flight(of_slot, plan);  // other constructs take the pointer for attached from now on: they wait until it is
}

void Mapping::add_item(const Items& items, int32_t i, Plan& plan) {
  uint64_t type = items.types[i];
  uintptr_t begin = address_of(items.begins[i]), base = address_of(items.bases[i]);
  auto bytes = static_cast<size_t>(items.sizes[i]);
  if ((type & kAttach) != 0) {
    plan.attachments.push(attachment_of(items, i));
    return;
  }
  bool count = !is_member(type);
  bool fresh;
  uintptr_t slot = 0;
  if ((type & kPointerAndObject) != 0) {
    slot = base;
    find_or_create(slot, sizeof(void*), (type & kHold) | (type & kPresent), count, plan, fresh);
    base = *reinterpret_cast<uintptr_t*>(slot);
    count = true;
  }
  MapEntry* entry = find_or_create(begin, bytes_with_members(items, i), type, count, plan, fresh);
  if (fresh && entry != nullptr && has_members(items, i)) entry->is_of_members = true;
  if ((type & kReturn) != 0 && entry != nullptr) {
    items.bases[i] = reinterpret_cast<void*>(entry->on_device(begin) - (begin - base));
    if (!entry->contains(base, base + 1)) device_->has_far_pointers.store(true, std::memory_order_relaxed);
  }
  if (entry == nullptr) return;
  if ((type & kTo) != 0 && (fresh || (type & kAlways) != 0)) copy_item(*entry, begin, bytes, type, plan);
  if (slot != 0) plan.attachments.push(attachment_of(items, i));
}

// Plans the copy of an item to the device. A descriptor that is on the device as it is on the host is not copied.
void Mapping::copy_item(MapEntry& entry, uintptr_t begin, size_t bytes, uint64_t type, Plan& plan) {
  bool is_descriptor = (type & kDescriptor) != 0, is_fresh = entry.in_flight == &plan.in_flight;
  if (is_descriptor && entry.descriptors.has(begin, bytes)) return;
  if (!is_fresh && !is_descriptor) entry.descriptors.forget(begin, bytes);
  copy_around(entry, begin, bytes, plan.copies);
  if (!is_descriptor) return;
  entry.descriptors.note(begin, bytes);
  if (!is_fresh) plan.described.push(&entry);
}

void Mapping::add(const Items& items, Plan& plan) {
  for (int32_t i = 0; i < items.count; ++i) {
    if (!has_no_storage(items.types[i])) add_item(items, i, plan);
  }
}

void Mapping::write_slots(Plan& plan, ReportedConstruct* reported) {
  List<Transfer, 8> copies;
  for (Slot& slot : plan.slots) copies.push({slot.device, &slot.value, sizeof slot.value, slot.fills});
  make_copies(device_, copies, true, reported);
}

// Reports a list of the construct's own map entries to a tool. They are in flight, so no other construct changes them.
void Mapping::report_entries(Memory what, const MapEntry* first, ReportedConstruct* reported) {
  if (!is_reported(MARLINE_ON_DATA | MARLINE_ON_TIMES)) return;
  for (const MapEntry* entry = first; entry != nullptr; entry = entry->next) {
    if (entry->allocation == 0) continue;
    report_memory(what, device_, reinterpret_cast<const void*>(entry->begin), entry->address, entry->end - entry->begin,
                  reported);
  }
}

void Mapping::begin(const Items& items) {
  if (shared_ || items.count == 0) return;
  if (items.mappers == nullptr) {
    begin_expanded(items);
  } else {
    Expansion expansion(items);
    begin_expanded(expansion.items());
    expansion.return_bases(items);
  }
  report_maps(items, false);
}

void Mapping::begin_expanded(const Items& items) {
  Plan plan;
  plan.may_share = shares_storage(items);
  lock_.take();
  while (wait_for_in_flight(items)) {
  }
  begin_construct(items);
  add(items, plan);
  const MapEntry* created = plan.entries;  // the entries that are added later only get pointers and descriptors
  // Other constructs take the descriptors for copied from now on: they wait until these are.
  for (MapEntry* entry : plan.described) make_in_flight(entry, plan);
  for (const AttachLater& one : plan.attachments) attach(one, plan);
  note_in_flight(plan, false);
  lock_.release();
  report_entries(Memory::kAllocate, created, items.reported);
  make_copies(device_, plan.copies, true, items.reported);
  write_slots(plan, items.reported);
  if (plan.entries == nullptr) return;
  Guard guard(lock_);
  --in_flight_count_;
  for (MapEntry* entry = plan.entries; entry != nullptr; entry = entry->next) {
    entry->in_flight = nullptr;
    entry->empty = false;
  }
  wake(&plan.in_flight);
}

// Whether the construct has not counted the map entry yet. References with the hold modifier are counted separately.
bool Mapping::is_first_count(MapEntry* entry, uint64_t type) const {
  uint64_t& last = (type & kHold) != 0 ? entry->held_by : entry->counted_by;
  bool first = last != construct_;
  last = construct_;
  return first;
}

uint64_t& Mapping::count_for(MapEntry* entry, uint64_t type) const {
  if ((type & kHold) != 0) return entry->holds;
  return of_region_ ? entry->regions : entry->references;
}

// Removes the construct's reference to the map entry, or, with `delete`, all references but those of regions in
// progress. An early-submitted construct ignores the references of regions ordered before it.
void Mapping::drop(MapEntry* entry, uint64_t type, Plan& plan) {
  if (is_gone(entry, plan) || is_for_regions_alone(entry, plan)) return;
  if ((type & kDelete) != 0) {
    entry->references = 0;
  } else if (is_first_count(entry, type)) {
    uint64_t& count = count_for(entry, type);
    count -= count != 0;
  }
  take_last(entry, plan);
}

// Starts to remove the map entry if no references are left.
void Mapping::take_last(MapEntry* entry, Plan& plan) {
  if (!entry->forever && count_successors(entry, plan.order) == 0) make_in_flight(entry, plan);
}

MapEntry* Mapping::entry_at_end(const Items& items, int32_t i) const {
  uintptr_t begin = address_of(items.begins[i]);
  auto bytes = static_cast<size_t>(items.sizes[i]);
  if ((items.types[i] & kImplicit) == 0) return find(begin, bytes);
  return static_cast<MapEntry*>(entries_.first_overlap(begin, begin + bytes));
}

void Mapping::subtract_item(const Items& items, int32_t i, Plan& plan) {
  uint64_t type = items.types[i];
  if ((type & kAttach) != 0) return;
  bool pointer = (type & kPointerAndObject) != 0;
  MapEntry* entry = entry_at_end(items, i);
  if (entry == nullptr && (type & kPresent) != 0) {
    refuse_absent("the end of a map", address_of(items.begins[i]), static_cast<size_t>(items.sizes[i]));
  }
  if (entry != nullptr && (!is_member(type) || pointer)) drop(entry, type, plan);
  if (!pointer || is_member(type)) return;
  if (MapEntry* of_slot = find(address_of(items.bases[i]), sizeof(void*))) drop(of_slot, type & kHold, plan);
}

// Called when all items are counted: an entry that the construct removes is then in flight for it.
void Mapping::copy_item_back(const Items& items, int32_t i, Plan& plan) {
  uint64_t type = items.types[i];
  if ((type & kFrom) == 0 || (type & kAttach) != 0) return;
  if (plan.entries == nullptr && (type & kAlways) == 0) return;
  MapEntry* entry = entry_at_end(items, i);
  if (entry == nullptr || (entry->in_flight != &plan.in_flight && (type & kAlways) == 0) || is_gone(entry, plan))
    return;
  auto bytes = static_cast<size_t>(items.sizes[i]);
  entry->descriptors.forget(address_of(items.begins[i]), bytes);
  copy_around(*entry, address_of(items.begins[i]), bytes, plan.copies);
}

void Mapping::subtract(const Items& items, Plan& plan) {
  for (int32_t i = 0; i < items.count; ++i) {
    if (!has_no_storage(items.types[i])) subtract_item(items, i, plan);
  }
  for (int32_t i = 0; i < items.count; ++i) {
    if (!has_no_storage(items.types[i])) copy_item_back(items, i, plan);
  }
}

void Mapping::end(const Items& items) {
  if (shared_ || items.count == 0) return;
  report_maps(items, true);
  if (items.mappers == nullptr) return end_expanded(items);
  Expansion expansion(items);
  end_expanded(expansion.items());
}

void Mapping::end_expanded(const Items& items) {
  lock_.take();
  while (wait_for_in_flight(items)) {
  }
  end_locked(items);
}

bool Mapping::try_end(const Items& items) {
  if (shared_ || items.count == 0) return true;
  lock_.take();
  if (in_flight_count_ != 0 && in_flight_among(items) != nullptr) {
    lock_.release();
    return false;
  }
  end_locked(items);
  return true;
}

void Mapping::remove_entry(MapEntry* entry) {
  take_off_list(entry);
  release_entry(entry);
}

void Mapping::release_entry(MapEntry* entry) {
  release_storage(entry);
  entry->~MapEntry();
  std::free(entry);
}

// Called with the lock, and left without it.
void Mapping::end_locked(const Items& items) {
  Plan plan;
  plan_end(items, plan);
  lock_.release();
  make_copies(device_, plan.copies, false, items.reported);
  finish_end(items, plan);
}

void Mapping::plan_end(const Items& items, Plan& plan) {
  begin_construct(items);
  subtract(items, plan);
  note_in_flight(plan, true);
}

void Mapping::finish_end(const Items& items, Plan& plan) {
  report_entries(Memory::kRelease, plan.entries, items.reported);
  if (plan.entries == nullptr) return;
  bool is_in_flight = plan.in_flight.leaves;  // else all entries are transient maps, which are in flight by `own`
  remove_entries(plan.entries);
  if (!is_in_flight) return;
  Guard guard(lock_);
  --in_flight_count_;
  wake(&plan.in_flight);
}

// Releases the memory without the lock: the device may end operations meanwhile, and these call functions of this
// class. Waiters for the entries are woken after the release, as they may need the memory.
void Mapping::remove_entries(MapEntry* first) {
  {
    Guard guard(lock_);
    for (MapEntry* entry = first; entry != nullptr; entry = entry->next) {
      if (!entry->is_off_list) take_off_list(entry);
    }
  }
  while (MapEntry* entry = first) {
    first = entry->next;
    release_storage(entry);
    if (entry->is_of_regions()) {
      Guard guard(lock_);
      --in_flight_count_;
      wake(&entry->own);
    }
    entry->~MapEntry();
    std::free(entry);
  }
}

size_t Mapping::most_bytes_back(const Items& items) {
  size_t bytes = 0;
  for (int32_t i = 0; i < items.count; ++i) {
    if (has_mapper(items, i) || (items.types[i] & (kAlways | kFrom)) == (kAlways | kFrom)) return SIZE_MAX;
    if ((items.types[i] & kFrom) != 0 && !has_no_storage(items.types[i])) bytes += static_cast<size_t>(items.sizes[i]);
  }
  return bytes;
}

// Makes a private copy of item i for one kernel, and returns the copy's base.
uint64_t Mapping::copy_of(const Items& items, int32_t i, Arguments& to) {
  uintptr_t begin = address_of(items.begins[i]);
  auto bytes = static_cast<size_t>(items.sizes[i]);
  uint64_t allocation = device_->kind->allocate(device_, bytes + begin % kLine + 1);
  if (allocation == 0) refuse_for_memory(items.source, "a private copy of", bytes);
  to.copies.push(allocation);
  uint64_t copy = allocation + begin % kLine;
  report_memory(Memory::kAllocate, device_, items.begins[i], allocation, bytes, items.reported);
  bool is_copied = (items.types[i] & kTo) != 0 && bytes != 0;
  if (is_copied && to.later != nullptr) {
    to.later->push({copy, items.begins[i], bytes});
  } else if (is_copied) {
    copy_to(device_, copy, items.begins[i], bytes, items.reported);
  }
  return copy - (begin - address_of(items.bases[i]));
}

void Mapping::make_arguments(const Items& items, bool leading_null, Arguments& to) {
  if (leading_null) to.words.push(0);
  List<uint64_t, 16> of_item;
  for (int32_t i = 0; i < items.count; ++i) {
    uint64_t type = items.types[i], word = 0;
    uintptr_t begin = address_of(items.begins[i]), base = address_of(items.bases[i]);
    if (is_capture(type)) {  // a pointer in the closure, which is an earlier item
      uint32_t closure = static_cast<uint32_t>(type >> kMemberShift) - 1;
      uint64_t value = translate(items.begins[i]);
      uint64_t slot = of_item[closure] + (base - address_of(items.bases[closure]));
      if (value != 0 && !shared_) copy_to(device_, slot, &value, sizeof value, items.reported);
    } else if ((type & kParameter) == 0 || (type & kOwn) != 0) {
    } else if ((type & kLiteral) != 0) {
      word = base;
    } else if ((type & kPrivate) != 0) {
      word = copy_of(items, i, to);
    } else {
      if ((type & kPointerAndObject) != 0) base = *reinterpret_cast<uintptr_t*>(base);
      uint64_t address = argument_address(items, i);
      word = address != 0 ? address - (begin - base) : base;  // not mapped: the pointer keeps its value (5.2, 5.8.6)
    }
    of_item.push(word);
    if ((type & kParameter) != 0) to.words.push(word);
  }
  add_own_memory(items, to);
}

void Mapping::release_arguments(Arguments& arguments, ReportedConstruct* reported) {
  for (uint64_t copy : arguments.copies) {
    report_memory(Memory::kRelease, device_, nullptr, copy, 0, reported);
    device_->kind->release(device_, copy);
  }
}

uint64_t Mapping::translate(const void* host, size_t bytes) {
  if (shared_) return address_of(host);
  Guard guard(lock_);
  MapEntry* entry = find(address_of(host), bytes);
  if (entry == nullptr && bytes != 0) entry = find(address_of(host), 0);  // implicit maps may cover less of the object
  return entry != nullptr ? entry->on_device(address_of(host)) : 0;
}

bool Mapping::is_present(const void* host) { return translate(host) != 0; }

bool Mapping::is_permanent(const void* host) {
  Guard guard(lock_);
  const MapEntry* entry = find(address_of(host), 1);
  return entry != nullptr && entry->forever;
}

void Mapping::add_permanent(const void* host, size_t bytes, uint64_t address, bool associated) {
  auto* entry = make<MapEntry>("the list of mapped data");
  entry->begin = address_of(host);
  entry->end = entry->begin + bytes;
  entry->address = address;
  entry->forever = true;
  entry->associated = associated;
  entries_.insert(entry);
}

void Mapping::remove_permanent(MapEntry* entry) {
  take_off_list(entry);
  entry->~MapEntry();
  std::free(entry);
}

bool Mapping::add_global(const void* host, size_t bytes, uint64_t address) {
  Guard guard(lock_);
  if (entries_.first_overlap(address_of(host), address_of(host) + bytes) != nullptr) return false;
  add_permanent(host, bytes, address, false);
  return true;
}

// A construct of another thread may be attaching a pointer in the entry, though the library is being closed. The thread
// that closes the library must not wait, so the entry is only taken off the list then; its few bytes are not freed.
void Mapping::remove_global(const void* host) {
  Guard guard(lock_);
  auto* entry = static_cast<MapEntry*>(entries_.first_overlap(address_of(host), 0));
  if (entry != nullptr && entry->forever && !entry->associated && entry->begin == address_of(host)) {
    entry->in_flight == nullptr ? remove_permanent(entry) : take_off_list(entry);
  }
}

void Mapping::add_place(const void* host, size_t bytes, uint64_t address) {
  Guard guard(lock_);
  uintptr_t begin = address_of(host);
  if (bytes == 0 || places_.first_overlap(begin, begin + bytes) != nullptr) return;
  auto* place = make<Place>("the list of mapped data");
  place->begin = begin;
  place->end = begin + bytes;
  place->address = address;
  places_.insert(place);
}

void Mapping::remove_place(const void* host) {
  Guard guard(lock_);
  Range* place = places_.first_overlap(address_of(host), 0);
  if (place == nullptr || place->begin != address_of(host)) return;
  places_.remove(place);
  std::free(place);
}

bool Mapping::associate(const void* host, size_t bytes, uint64_t address) {
  Guard guard(lock_);
  uintptr_t begin = address_of(host);
  if (auto* known = static_cast<MapEntry*>(entries_.first_overlap(begin, begin + bytes))) {
    return known->associated && known->begin == begin && known->end == begin + bytes && known->address == address;
  }
  add_permanent(host, bytes, address, true);
  count_association(device_, address);
  return true;
}

bool Mapping::disassociate(const void* host) {
  Guard guard(lock_);
  auto* entry = static_cast<MapEntry*>(entries_.first_overlap(address_of(host), 0));
  if (entry == nullptr || !entry->associated || entry->begin != address_of(host)) return false;
  if (entry->count() != 0 || entry->in_flight != nullptr) return false;
  discount_association(device_, entry->address);
  remove_permanent(entry);
  return true;
}

}  // namespace marline::offload::data
