// SPDX-License-Identifier: Apache-2.0
//
// Goes through the items of a construct.
#include "data/plan.hpp"

#include "base/make.hpp"
#include "data/messages.hpp"

#include <algorithm>
#include <cassert>

namespace marline::offload::data {

using namespace map_type;

namespace {

// Whether the item is a structure and is followed by the items of its members.
bool has_members(const Items& items, int32_t i) {
  return !is_member(items.types[i]) && i + 1 < items.count && is_member(items.types[i + 1]);
}

// The value that the pointer of item i had when the program reached the construct; 0: it is not known. The pointer
// itself is not read: with Clang 22, a deferred construct may name a pointer on a stack that no longer exists when the
// construct runs. But the item before, which is the section that the pointer points to, has the pointer's value as its
// base.
uintptr_t pointer_of(const Items& items, int32_t i) {
  if (items.own_bases || i == 0) return 0;
  bool has_section = items.begins[i - 1] == items.begins[i] && (items.types[i - 1] & kAttach) == 0;
  return has_section ? base_of(items, i - 1) : 0;
}

// The map entry of a pointer that is to be attached, and the value that the pointer gets on the device. The pointer may
// also point to a place in front of its section.
struct Attaching {
  MapEntry* of_slot;     // null: the pointer is not attached
  MapEntry* of_pointee;  // null: the data that the pointer refers to is not mapped
  uint64_t value;
};

// Only a pointer that is mapped is attached. The construct has mapped the data that it points to, unless that is a
// section without elements: then the pointer keeps its value (OpenMP 5.2, 5.8.6).
Attaching find_attaching(const MapTable& table, const AttachLater& one) {
  MapEntry *of_slot = table.find(one.slot, sizeof(void*)), *of_pointee = table.find(one.pointee, 0);
  if (of_slot == nullptr || of_pointee == nullptr) return {nullptr, of_pointee, 0};
  uintptr_t pointer = *reinterpret_cast<uintptr_t*>(one.slot);
  if (one.pointer != 0 && pointer != one.pointer) return {nullptr, of_pointee, 0};
  table.note_far_pointer(*of_pointee, pointer);
  return {of_slot, of_pointee, of_pointee->on_device(one.pointee) - (one.pointee - pointer)};
}

}  // namespace

AttachLater attachment_of(const Items& items, int32_t i) {
  bool attaches_only = (items.types[i] & kAttach) != 0;
  bool always = attaches_only && (items.types[i] & kAlways) != 0;
  return {base_of(items, i), begin_of(items, i), always, attaches_only ? pointer_of(items, i) : 0, items.own_bases};
}

bool is_attached(const MapTable& table, const Items& items, int32_t i) {
  AttachLater one = attachment_of(items, i);
  Attaching found = find_attaching(table, one);
  return found.of_slot == nullptr ||
         (!is_wanted_again(items.types[i]) && found.of_slot->attachments.has(one.slot, found.value));
}

// Counts the extents of the members, too, as Clang 14 and 16 pass a size for some structures that leaves out their end.
size_t bytes_with_members(const Items& items, int32_t i) {
  uintptr_t begin = begin_of(items, i);
  size_t bytes = bytes_of(items, i);
  if (is_member(items.types[i])) return bytes;
  for (int32_t k = i + 1; k < items.count && items.types[k] >> kMemberShift == static_cast<uint64_t>(i) + 1; ++k) {
    if (has_slot(items.types[k]) || !has_data(items.types[k])) continue;
    uintptr_t end = begin_of(items, k) + bytes_of(items, k);
    if (end > begin) bytes = std::max(bytes, end - begin);
  }
  return bytes;
}

void Plan::make_in_flight(MapEntry* entry) {
  if (entry->in_flight == &in_flight) return;
  assert(entry->in_flight == nullptr || construct.order != nullptr);
  entry->in_flight = &in_flight;
  entries.push_first(entry);
}

void Plan::note_in_flight(MapTable& table, bool leaves) {
  if (entries.is_empty()) return;
  table.note_in_flight();
  in_flight.leaves = leaves;
  for (const Transfer& copy : copies) in_flight.bytes += copy.bytes;
}

MapEntry* Plan::create(MapTable& table, uintptr_t begin, size_t bytes, uint64_t type) {
  auto* entry = make<MapEntry>("the list of mapped data");
  entry->begin = begin;
  entry->end = begin + bytes;
  if (!table.storage().allocate(entry, blocks)) {
    destroy(entry);
    return nullptr;
  }
  entry->counts.add(construct, type);
  entry->empty = true;
  entry->source = construct.source;
  make_in_flight(entry);
  table.insert(entry);
  const Wanted* wanted = table.wanted().first(begin, entry->end);
  for (; wanted != nullptr; wanted = table.wanted().first(wanted->end, entry->end))
    attachments.push({wanted->begin, wanted->pointee, false, wanted->pointer, true});
  return entry;
}

// Null: an item without bytes that is not mapped.
MapEntry* Plan::find_or_create(MapTable& table, uintptr_t begin, size_t bytes, uint64_t type, bool count) {
  MapEntry* entry = table.first_overlap(begin, bytes);
  if (entry != nullptr && (entry->contains(begin, begin + bytes) || (type & kImplicit) != 0)) {
    if (count) entry->counts.add(construct, type);
    return entry;
  }
  if ((type & kPresent) != 0) refuse_absent(table.device(), construct.source, "a map", begin, bytes);
  if (entry != nullptr) refuse_overlap(table.device(), construct.source, begin, bytes, *entry);
  if (bytes == 0) return nullptr;
  entry = create(table, begin, bytes, type);
  if (entry == nullptr) refuse_for_memory(table.device(), construct.source, "a map of", bytes);
  return entry;
}

void Plan::add_item(MapTable& table, const Items& items, int32_t i) {
  uint64_t type = items.types[i];
  if (!has_data(type)) {
    if (has_slot(type)) attachments.push(attachment_of(items, i));
    return;
  }
  uintptr_t begin = begin_of(items, i), base = base_of(items, i);
  bool count = !is_member(type) || has_slot(type);
  if (has_slot(type)) {
    find_or_create(table, base, sizeof(void*), type & (kHold | kPresent), !is_member(type));
    base = *reinterpret_cast<uintptr_t*>(base);
  }
  MapEntry* entry = find_or_create(table, begin, bytes_with_members(items, i), type, count);
  if (entry == nullptr) return;
  // This construct has created the entry, for this item or for a structure around it.
  bool is_fresh = entry->in_flight == &in_flight;
  if (is_fresh && has_members(items, i)) entry->is_of_members = true;
  if ((type & kReturn) != 0) {
    items.bases[i] = reinterpret_cast<void*>(entry->on_device(begin) - (begin - base));
    table.note_far_pointer(*entry, base);
  }
  if ((type & kTo) != 0 && (is_fresh || (type & kAlways) != 0)) copy_item(*entry, items, i);
  if (has_slot(type)) attachments.push(attachment_of(items, i));
}

void Plan::copy_item(MapEntry& entry, const Items& items, int32_t i) {
  uintptr_t begin = begin_of(items, i);
  size_t bytes = bytes_of(items, i);
  bool is_descriptor = (items.types[i] & kDescriptor) != 0, is_fresh = entry.in_flight == &in_flight;
  if (is_descriptor && entry.descriptors.has(begin, bytes)) return;
  if (!is_fresh && !is_descriptor) entry.descriptors.forget(begin, bytes);
  copy_around(entry, begin, bytes, copies);
  if (!is_descriptor) return;
  entry.descriptors.note(begin, bytes);
  if (!is_fresh) described.push(&entry);
}

void Plan::add(MapTable& table, const Items& items) {
  for (int32_t i = 0; i < items.count; ++i) add_item(table, items, i);
}

// Constructs other than regions leave their data mapped, so they record the pointer (wanted_pointers.hpp). They do so
// even if the pointer has storage, as the storage may be removed and created again.
void Plan::attach(MapTable& table, const AttachLater& one) {
  Attaching found = find_attaching(table, one);
  bool is_known = one.pointer != 0 || one.is_readable;
  if (!construct.of_region && found.of_pointee != nullptr && is_known) {
    uintptr_t pointer = one.pointer != 0 ? one.pointer : *reinterpret_cast<uintptr_t*>(one.slot);
    table.wanted().note(one.slot, pointer, one.pointee, found.of_pointee);
  }
  MapEntry* entry = found.of_slot;
  if (entry == nullptr || (!entry->attachments.note(one.slot, found.value) && !one.always)) return;
  slots.push({entry->on_device(one.slot), found.value, entry->is_filled_now()});
  make_in_flight(entry);  // other constructs now find the pointer noted as attached, so they wait until it is
}

// Whether another construct is removing the entry. Only an early-submitted construct that is ordered after the removal
// meets such an entry.
bool Plan::is_gone(const MapEntry* entry) const { return entry->leaves() && entry->in_flight != &in_flight; }

// An early-submitted exit data does not remove an entry that only regions have references to: the entry goes with the
// last of these regions. It ignores the references of regions ordered before it.
void Plan::drop(MapEntry* entry, uint64_t type) {
  if (is_gone(entry) || (construct.order != nullptr && !entry->counts.is_kept())) return;
  entry->counts.subtract(construct, type);
  take_last(entry);
}

void Plan::take_last(MapEntry* entry) {
  if (entry->counts.is_zero(construct.order)) make_in_flight(entry);
}

void Plan::copy_back(const MapTable& table, const Items& items) {
  for (int32_t i = 0; i < items.count; ++i) {
    uint64_t type = items.types[i];
    bool always = (type & kAlways) != 0;
    if (!has_data(type) || (type & kFrom) == 0 || (entries.is_empty() && !always)) continue;
    MapEntry* entry = table.find_item(items, i);
    if (entry == nullptr || (entry->in_flight != &in_flight && !always) || is_gone(entry)) continue;
    entry->descriptors.forget(begin_of(items, i), bytes_of(items, i));
    copy_around(*entry, begin_of(items, i), bytes_of(items, i), copies);
  }
}

void Plan::subtract(MapTable& table, const Items& items) {
  for (int32_t i = 0; i < items.count; ++i) {
    uint64_t type = items.types[i];
    if (!has_data(type)) continue;
    MapEntry* entry = table.find_item(items, i);
    if (entry == nullptr && (type & kPresent) != 0) {
      refuse_absent(table.device(), construct.source, "the end of a map", begin_of(items, i), bytes_of(items, i));
    }
    if (entry != nullptr && (!is_member(type) || has_slot(type))) drop(entry, type);
    MapEntry* of_slot = maps_slot(type) ? table.find_slot(items, i) : nullptr;
    if (of_slot != nullptr) drop(of_slot, type & kHold);
  }
  copy_back(table, items);
}

void Plan::update(const MapTable& table, const Items& items) {
  for (int32_t i = 0; i < items.count; ++i) {
    uint64_t type = items.types[i];
    if (!has_data(type) || (type & (kTo | kFrom)) == 0) continue;  // a structure's members follow
    bool in_parts = (type & kNonContiguous) != 0;
    uintptr_t begin = in_parts ? begin_of_parts(items, i) : begin_of(items, i);
    size_t bytes = in_parts ? 0 : bytes_of(items, i);
    MapEntry* entry = table.find(begin, bytes);
    if (entry == nullptr && (type & kPresent) != 0) {
      refuse_absent(table.device(), construct.source, "target update", begin, bytes);
    }
    if (entry == nullptr) continue;
    List<Transfer, 8>& to = (type & kFrom) != 0 ? copies_back : copies;
    if (in_parts) {
      entry->descriptors.clear();
      uintptr_t outside = copy_parts(*entry, items, i, to);
      if (outside != 0) refuse_outside(table.device(), construct.source, outside, *entry);
    } else {
      entry->descriptors.forget(begin, bytes);
      copy_around(*entry, begin, bytes, to);
    }
  }
}

}  // namespace marline::offload::data
