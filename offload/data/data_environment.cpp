// SPDX-License-Identifier: Apache-2.0
//
// Maps and unmaps the data of constructs. A construct goes through its items under the lock and writes down what is to
// be copied; then it makes the copies without the lock. Pointers are attached after all copies, because compilers also
// name an attached pointer before the object that it lies in.
#include "data/data_environment.hpp"

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
void make_busy(Piece* piece, Plan& plan) {
  if (piece->busy == &plan.busy) return;
  assert(piece->busy == nullptr || plan.sent != nullptr);
  piece->busy = &plan.busy;
  piece->next = plan.pieces;
  plan.pieces = piece;
}

// Whether another construct is removing the entry. Only an early-submitted construct that is ordered after the removal
// meets such an entry.
bool is_gone(const Piece* piece, const Plan& plan) {
  return piece->busy != nullptr && piece->busy->leaves && piece->busy != &plan.busy;
}

// Whether the item is a structure and is followed by the items of its members.
bool has_members(const Items& items, int32_t i) {
  return !is_member(items.types[i]) && i + 1 < items.count && is_member(items.types[i + 1]);
}

// Whether only regions have references to the entry. An early-submitted exit data does not remove such an entry, which
// goes with the last of these regions.
bool is_for_regions_alone(const Piece* piece, const Plan& plan) {
  return plan.sent != nullptr && piece->references + piece->holds == 0 && !piece->forever;
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
Piece* Mapping::find(uintptr_t begin, size_t bytes) const {
  auto* piece = static_cast<Piece*>(pieces_.first_overlap(begin, begin + bytes));
  return piece != nullptr && piece->contains(begin, begin + bytes) ? piece : nullptr;
}

Piece* Mapping::create(uintptr_t begin, size_t bytes, uint64_t type, Plan& plan) {
  Piece* piece = try_create(begin, bytes, type, plan);
  if (piece == nullptr) refuse_for_memory(source_, "a map of", bytes);
  return piece;
}

// Returns null if the device has no memory for the entry.
Piece* Mapping::try_create(uintptr_t begin, size_t bytes, uint64_t type, Plan& plan) {
  void* memory = std::malloc(sizeof(Piece));
  if (memory == nullptr) fatal("no memory for the list of mapped data");
  auto* piece = new (memory) Piece{};
  piece->begin = begin;
  piece->end = begin + bytes;
  if (!locate(piece, plan)) {
    piece->~Piece();
    std::free(piece);
    return nullptr;
  }
  count_for(piece, type) = 1;
  ((type & kHold) != 0 ? piece->held_by : piece->counted_by) = construct_;
  piece->empty = true;
  piece->source = source_;
  make_busy(piece, plan);
  pieces_.insert(piece);
  attach_wanted(piece, plan);
  return piece;
}

// `fresh`: this construct has created the map entry, for this item or for a structure around it, so its data is to be
// copied.
Piece* Mapping::find_or_create(uintptr_t begin, size_t bytes, uint64_t type, bool count, Plan& plan, bool& fresh) {
  fresh = false;
  auto* piece = static_cast<Piece*>(pieces_.first_overlap(begin, begin + bytes));
  if (piece != nullptr && (piece->contains(begin, begin + bytes) || (type & kImplicit) != 0)) {
    fresh = piece->busy == &plan.busy;
    if (count && is_first_count(piece, type)) ++count_for(piece, type);
    return piece;
  }
  if (piece != nullptr && (type & kPresent) == 0) {
    refuse_overlap(begin, bytes, *piece);
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
Piece* Mapping::find_slot(const AttachLater& one, uint64_t& value) const {
  Piece* of_slot = find(one.slot, sizeof(void*));
  Piece* of_pointee = find(one.pointee, 0);
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
  Piece* of_slot = find_slot(one, value);
  if (of_slot == nullptr || (!of_slot->attachments.note(one.slot, value) && !one.always)) return;
  plan.slots.push({of_slot->on_device(one.slot), value, of_slot->is_filled_now()});
  make_busy(of_slot, plan);  // other constructs take the pointer for attached from now on: they wait until it is
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
  Piece* piece = find_or_create(begin, bytes_with_members(items, i), type, count, plan, fresh);
  if (fresh && piece != nullptr && has_members(items, i)) piece->is_of_members = true;
  if ((type & kReturn) != 0 && piece != nullptr) {
    items.bases[i] = reinterpret_cast<void*>(piece->on_device(begin) - (begin - base));
    if (!piece->contains(base, base + 1)) device_->has_far_pointers.store(true, std::memory_order_relaxed);
  }
  if (piece == nullptr) return;
  if ((type & kTo) != 0 && (fresh || (type & kAlways) != 0)) copy_item(*piece, begin, bytes, type, plan);
  if (slot != 0) plan.attachments.push(attachment_of(items, i));
}

// Plans the copy of an item to the device. A descriptor that is on the device as it is on the host is not copied.
void Mapping::copy_item(Piece& piece, uintptr_t begin, size_t bytes, uint64_t type, Plan& plan) {
  bool is_descriptor = (type & kDescriptor) != 0, is_fresh = piece.busy == &plan.busy;
  if (is_descriptor && piece.descriptors.has(begin, bytes)) return;
  if (!is_fresh && !is_descriptor) piece.descriptors.forget(begin, bytes);
  copy_around(piece, begin, bytes, plan.copies);
  if (!is_descriptor) return;
  piece.descriptors.note(begin, bytes);
  if (!is_fresh) plan.described.push(&piece);
}

void Mapping::add(const Items& items, Plan& plan) {
  for (int32_t i = 0; i < items.count; ++i) {
    if (!has_no_storage(items.types[i])) add_item(items, i, plan);
  }
}

void Mapping::write_slots(Plan& plan, Told* told) {
  Array<Transfer> copies;
  for (Slot& slot : plan.slots) copies.push({slot.device, &slot.value, sizeof slot.value, slot.fills});
  make_copies(device_, copies, true, told);
}

// Reports a list of the construct's own map entries to a tool. They are in flight, so no other construct changes them.
void Mapping::tell_pieces(Memory what, const Piece* first, Told* told) {
  if (!is_told(MARLINE_ON_DATA | MARLINE_ON_TIMES)) return;
  for (const Piece* piece = first; piece != nullptr; piece = piece->next) {
    if (piece->allocation == 0) continue;
    tell_memory(what, device_, reinterpret_cast<const void*>(piece->begin), piece->address, piece->end - piece->begin,
                told);
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
  tell_maps(items, false);
}

void Mapping::begin_expanded(const Items& items) {
  Plan plan;
  plan.may_share = shares_storage(items);
  lock_.take();
  while (wait_for_busy(items)) {
  }
  begin_construct(items);
  add(items, plan);
  const Piece* created = plan.pieces;  // the entries that are added later only get pointers and descriptors
  // Other constructs take the descriptors for copied from now on: they wait until these are.
  for (Piece* piece : plan.described) make_busy(piece, plan);
  for (const AttachLater& one : plan.attachments) attach(one, plan);
  note_busy(plan, false);
  lock_.release();
  tell_pieces(Memory::kAllocate, created, items.told);
  make_copies(device_, plan.copies, true, items.told);
  write_slots(plan, items.told);
  if (plan.pieces == nullptr) return;
  Guard guard(lock_);
  --busy_count_;
  for (Piece* piece = plan.pieces; piece != nullptr; piece = piece->next) {
    piece->busy = nullptr;
    piece->empty = false;
  }
  wake(&plan.busy);
}

// Whether the construct has not counted the map entry yet. References with the hold modifier are counted separately.
bool Mapping::is_first_count(Piece* piece, uint64_t type) const {
  uint64_t& last = (type & kHold) != 0 ? piece->held_by : piece->counted_by;
  bool first = last != construct_;
  last = construct_;
  return first;
}

uint64_t& Mapping::count_for(Piece* piece, uint64_t type) const {
  if ((type & kHold) != 0) return piece->holds;
  return of_region_ ? piece->regions : piece->references;
}

// Removes the construct's reference to the map entry, or, with `delete`, all references but those of regions in
// progress. An early-submitted construct ignores the references of regions ordered before it.
void Mapping::drop(Piece* piece, uint64_t type, Plan& plan) {
  if (is_gone(piece, plan) || is_for_regions_alone(piece, plan)) return;
  if ((type & kDelete) != 0) {
    piece->references = 0;
  } else if (is_first_count(piece, type)) {
    uint64_t& count = count_for(piece, type);
    count -= count != 0;
  }
  take_last(piece, plan);
}

// Starts to remove the map entry if no references are left.
void Mapping::take_last(Piece* piece, Plan& plan) {
  if (!piece->forever && count_behind(piece, plan.sent) == 0) make_busy(piece, plan);
}

Piece* Mapping::piece_at_end(const Items& items, int32_t i) const {
  uintptr_t begin = address_of(items.begins[i]);
  auto bytes = static_cast<size_t>(items.sizes[i]);
  if ((items.types[i] & kImplicit) == 0) return find(begin, bytes);
  return static_cast<Piece*>(pieces_.first_overlap(begin, begin + bytes));
}

void Mapping::subtract_item(const Items& items, int32_t i, Plan& plan) {
  uint64_t type = items.types[i];
  if ((type & kAttach) != 0) return;
  bool pointer = (type & kPointerAndObject) != 0;
  Piece* piece = piece_at_end(items, i);
  if (piece == nullptr && (type & kPresent) != 0) {
    refuse_absent("the end of a map", address_of(items.begins[i]), static_cast<size_t>(items.sizes[i]));
  }
  if (piece != nullptr && (!is_member(type) || pointer)) drop(piece, type, plan);
  if (!pointer || is_member(type)) return;
  if (Piece* of_slot = find(address_of(items.bases[i]), sizeof(void*))) drop(of_slot, type & kHold, plan);
}

// Called when all items are counted: an entry that the construct removes is then in flight for it.
void Mapping::copy_item_back(const Items& items, int32_t i, Plan& plan) {
  uint64_t type = items.types[i];
  if ((type & kFrom) == 0 || (type & kAttach) != 0) return;
  if (plan.pieces == nullptr && (type & kAlways) == 0) return;
  Piece* piece = piece_at_end(items, i);
  if (piece == nullptr || (piece->busy != &plan.busy && (type & kAlways) == 0) || is_gone(piece, plan)) return;
  auto bytes = static_cast<size_t>(items.sizes[i]);
  piece->descriptors.forget(address_of(items.begins[i]), bytes);
  copy_around(*piece, address_of(items.begins[i]), bytes, plan.copies);
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
  tell_maps(items, true);
  if (items.mappers == nullptr) return end_expanded(items);
  Expansion expansion(items);
  end_expanded(expansion.items());
}

void Mapping::end_expanded(const Items& items) {
  lock_.take();
  while (wait_for_busy(items)) {
  }
  end_locked(items);
}

bool Mapping::try_end(const Items& items) {
  if (shared_ || items.count == 0) return true;
  lock_.take();
  if (busy_count_ != 0 && busy_among(items) != nullptr) {
    lock_.release();
    return false;
  }
  end_locked(items);
  return true;
}

void Mapping::remove_piece(Piece* piece) {
  take_off_list(piece);
  release_piece(piece);
}

void Mapping::release_piece(Piece* piece) {
  release_storage(piece);
  piece->~Piece();
  std::free(piece);
}

// Called with the lock, and left without it.
void Mapping::end_locked(const Items& items) {
  Plan plan;
  plan_end(items, plan);
  lock_.release();
  make_copies(device_, plan.copies, false, items.told);
  finish_end(items, plan);
}

void Mapping::plan_end(const Items& items, Plan& plan) {
  begin_construct(items);
  subtract(items, plan);
  note_busy(plan, true);
}

void Mapping::finish_end(const Items& items, Plan& plan) {
  tell_pieces(Memory::kRelease, plan.pieces, items.told);
  if (plan.pieces == nullptr) return;
  bool is_busy = plan.busy.leaves;  // else all entries are transient maps, which are in flight by `own`
  remove_pieces(plan.pieces);
  if (!is_busy) return;
  Guard guard(lock_);
  --busy_count_;
  wake(&plan.busy);
}

// Releases the memory without the lock: the device may end operations meanwhile, and these call functions of this
// class. Waiters for the entries are woken after the release, as they may need the memory.
void Mapping::remove_pieces(Piece* first) {
  {
    Guard guard(lock_);
    for (Piece* piece = first; piece != nullptr; piece = piece->next) {
      if (!piece->is_off_list) take_off_list(piece);
    }
  }
  while (Piece* piece = first) {
    first = piece->next;
    release_storage(piece);
    if (piece->is_of_regions()) {
      Guard guard(lock_);
      --busy_count_;
      wake(&piece->own);
    }
    piece->~Piece();
    std::free(piece);
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
  tell_memory(Memory::kAllocate, device_, items.begins[i], allocation, bytes, items.told);
  bool is_copied = (items.types[i] & kTo) != 0 && bytes != 0;
  if (is_copied && to.later != nullptr) {
    to.later->push({copy, items.begins[i], bytes});
  } else if (is_copied) {
    copy_to(device_, copy, items.begins[i], bytes, items.told);
  }
  return copy - (begin - address_of(items.bases[i]));
}

void Mapping::make_arguments(const Items& items, bool leading_null, Arguments& to) {
  if (leading_null) to.words.push(0);
  Array<uint64_t, 16> of_item;
  for (int32_t i = 0; i < items.count; ++i) {
    uint64_t type = items.types[i], word = 0;
    uintptr_t begin = address_of(items.begins[i]), base = address_of(items.bases[i]);
    if (is_capture(type)) {  // a pointer in the closure, which is an earlier item
      uint32_t closure = static_cast<uint32_t>(type >> kMemberShift) - 1;
      uint64_t value = translate(items.begins[i]);
      uint64_t slot = of_item[closure] + (base - address_of(items.bases[closure]));
      if (value != 0 && !shared_) copy_to(device_, slot, &value, sizeof value, items.told);
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

void Mapping::release_arguments(Arguments& arguments, Told* told) {
  for (uint64_t copy : arguments.copies) {
    tell_memory(Memory::kRelease, device_, nullptr, copy, 0, told);
    device_->kind->release(device_, copy);
  }
}

uint64_t Mapping::translate(const void* host, size_t bytes) {
  if (shared_) return address_of(host);
  Guard guard(lock_);
  Piece* piece = find(address_of(host), bytes);
  if (piece == nullptr && bytes != 0) piece = find(address_of(host), 0);  // implicit maps may cover less of the object
  return piece != nullptr ? piece->on_device(address_of(host)) : 0;
}

bool Mapping::is_present(const void* host) { return translate(host) != 0; }

bool Mapping::is_permanent(const void* host) {
  Guard guard(lock_);
  const Piece* piece = find(address_of(host), 1);
  return piece != nullptr && piece->forever;
}

void Mapping::add_forever(const void* host, size_t bytes, uint64_t address, bool associated) {
  void* memory = std::malloc(sizeof(Piece));
  if (memory == nullptr) fatal("no memory for the list of mapped data");
  auto* piece = new (memory) Piece{};
  piece->begin = address_of(host);
  piece->end = piece->begin + bytes;
  piece->address = address;
  piece->forever = true;
  piece->associated = associated;
  pieces_.insert(piece);
}

void Mapping::remove_forever(Piece* piece) {
  take_off_list(piece);
  piece->~Piece();
  std::free(piece);
}

bool Mapping::add_global(const void* host, size_t bytes, uint64_t address) {
  Guard guard(lock_);
  if (pieces_.first_overlap(address_of(host), address_of(host) + bytes) != nullptr) return false;
  add_forever(host, bytes, address, false);
  return true;
}

// A construct of another thread may be attaching a pointer in the entry, though the library is being closed. The thread
// that closes the library must not wait, so the entry is only taken off the list then; its few bytes are not freed.
void Mapping::remove_global(const void* host) {
  Guard guard(lock_);
  auto* piece = static_cast<Piece*>(pieces_.first_overlap(address_of(host), 0));
  if (piece != nullptr && piece->forever && !piece->associated && piece->begin == address_of(host)) {
    piece->busy == nullptr ? remove_forever(piece) : take_off_list(piece);
  }
}

void Mapping::add_place(const void* host, size_t bytes, uint64_t address) {
  Guard guard(lock_);
  uintptr_t begin = address_of(host);
  if (bytes == 0 || places_.first_overlap(begin, begin + bytes) != nullptr) return;
  void* memory = std::malloc(sizeof(Place));
  if (memory == nullptr) fatal("no memory for the list of mapped data");
  auto* place = new (memory) Place{};
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
  if (auto* known = static_cast<Piece*>(pieces_.first_overlap(begin, begin + bytes))) {
    return known->associated && known->begin == begin && known->end == begin + bytes && known->address == address;
  }
  add_forever(host, bytes, address, true);
  count_association(device_, address);
  return true;
}

bool Mapping::disassociate(const void* host) {
  Guard guard(lock_);
  auto* piece = static_cast<Piece*>(pieces_.first_overlap(address_of(host), 0));
  if (piece == nullptr || !piece->associated || piece->begin != address_of(host)) return false;
  if (piece->count() != 0 || piece->busy != nullptr) return false;
  discount_association(device_, piece->address);
  remove_forever(piece);
  return true;
}

}  // namespace marline::offload::data
