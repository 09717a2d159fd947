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
// that ends before it. A transient map of regions is in flight by its own Busy (Piece::own), since it goes with the
// last of these regions; only regions with transient maps share it.
#include "data/copies.hpp"
#include "data/data_environment.hpp"
#include "data/plan.hpp"
#include "data/order/submission_order.hpp"

namespace marline::offload::data {

using namespace items;

using namespace map_type;

namespace {

bool leaves(const Piece* piece) { return piece->busy != nullptr && piece->busy->leaves; }

// Whether the entry is permanent or has other references than those of regions, such as that of an enter data.
bool is_kept(const Piece* piece) { return piece->references + piece->holds != 0 || piece->forever; }

bool is_behind(const Sent& sent, const Busy& busy) { return busy.is_sent && sent.is_behind(sent.of, busy.task); }

// For an entry that is being removed: whether the removal is ordered before the construct, so that the entry is gone
// for it.
bool is_over(Piece* piece, const Sent& sent) {
  if (!piece->is_of_regions()) return is_behind(sent, *piece->busy);
  for (uint64_t user : piece->users) {
    if (!sent.is_behind(sent.of, user)) return false;
  }
  return true;
}

void note_sent(Busy& busy, const Sent& sent) {
  busy.is_sent = true;
  busy.task = sent.task;
}

bool is_user(Piece* piece, uint64_t task) {
  for (uint64_t user : piece->users) {
    if (user == task) return true;
  }
  return false;
}

void forget_user(Piece* piece, uint64_t task) {
  uint32_t i = 0;
  while (piece->users[i] != task) ++i;
  piece->users[i] = piece->users[piece->users.count() - 1];
  piece->users.shrink(piece->users.count() - 1);
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
Piece* Mapping::piece_of_slot(const Items& items, int32_t i) const {
  return has_slot(items.types[i]) ? find(reinterpret_cast<uintptr_t>(items.bases[i]), sizeof(void*)) : nullptr;
}

Busy* Mapping::busy_at_slot(const Items& items, int32_t i) const {
  const Piece* of_slot = piece_of_slot(items, i);
  return of_slot != nullptr ? of_slot->busy : nullptr;
}

// Whether an `always` map copies something. It does, but for a descriptor that is on the device as it is on the host. A
// descriptor without a map entry is mapped like any other data.
bool Mapping::copies_always(const Items& items, int32_t i) const {
  uint64_t type = items.types[i];
  if ((type & kAlways) == 0 || (type & (kTo | kFrom)) == 0) return false;
  if ((type & kDescriptor) == 0) return true;
  const Piece* piece = piece_at_end(items, i);
  bool is_there = piece != nullptr && !leaves(piece);
  return is_there &&
         !piece->descriptors.has(reinterpret_cast<uintptr_t>(items.begins[i]), static_cast<size_t>(items.sizes[i]));
}

// Whether the item's pointer has the value that it is to get, or gets none.
bool Mapping::is_attached(const Items& items, int32_t i) const {
  AttachLater one = attachment_of(items, i);
  uint64_t value;
  Piece* of_slot = find_slot(one, value);
  return of_slot == nullptr || (!is_wanted_again(items.types[i]) && of_slot->attachments.has(one.slot, value));
}

// The reference count of the entry as a construct sees it: regions ordered before the construct are over.
uint64_t Mapping::count_behind(const Piece* piece, const Sent* sent) {
  uint64_t count = piece->count();
  if (sent == nullptr) return count;
  auto* changed = const_cast<Piece*>(piece);
  for (uint64_t user : changed->users) count -= sent->is_behind(sent->of, user) ? 1 : 0;
  return count;
}

// Whether no construct has the items in flight, except early-submitted constructs that fill them.
bool Mapping::is_free(const Items& items) const {
  for (int32_t i = 0; i < items.count && busy_count_ != 0; ++i) {
    for (const Busy* busy : {busy_at(items, i), busy_at_slot(items, i)}) {
      if (busy != nullptr && (!busy->is_sent || busy->leaves)) return false;
    }
  }
  return true;
}

void Mapping::wait_for_copies(const Items& items, const Sent& sent) const {
  for (int32_t i = 0; i < items.count && busy_count_ != 0; ++i) {
    for (const Busy* busy : {busy_at(items, i), busy_at_slot(items, i)}) {
      if (busy != nullptr && busy->operation != Busy::kNoOperation) sent.also_behind(sent.of, busy->operation);
    }
  }
}

// Whether a region only has to count references for the item. An entry that is there for other regions alone is not
// enough: this region may be ordered after them, and must find the host's data then.
bool Mapping::is_there(const Items& items, int32_t i, Array<Piece*>& counted) const {
  uint64_t type = items.types[i];
  if (has_no_storage(type)) return true;
  if (copies_always(items, i) || (type & (kReturn | kHold)) != 0) return false;
  if (has_slot(type) && !is_attached(items, i)) return false;
  if (!has_data(type)) return true;
  if (has_slot(type)) {
    Piece* of_slot = piece_of_slot(items, i);
    if (of_slot == nullptr || !is_kept(of_slot)) return false;
    if (maps_slot(type)) counted.push(of_slot);
  }
  Piece* piece = piece_at_end(items, i);
  if (piece == nullptr) return items.sizes[i] == 0 && (type & kPresent) == 0;
  counted.push(piece);
  return is_kept(piece);
}

uintptr_t Mapping::piece_of(const Items& items, int32_t i, bool of_pointer) {
  Guard guard(lock_);
  const Piece* piece = of_pointer ? piece_of_slot(items, i) : piece_at_end(items, i);
  return piece != nullptr ? piece->begin : 0;
}

bool Mapping::begin_present(const Items& items, const Sent& sent) {
  Guard guard(lock_);
  if (!is_free(items)) return false;
  Array<Piece*> pieces;
  for (int32_t i = 0; i < items.count; ++i) {
    if (!is_there(items, i, pieces)) return false;
  }
  begin_construct(items);
  for (Piece* piece : pieces) {
    if (!is_first_count(piece, 0)) continue;
    ++count_for(piece, 0);
    piece->users.push(sent.task);
  }
  wait_for_copies(items, sent);
  return true;
}

// The end of a region that has begun early. An entry that another construct has taken, and perhaps mapped anew, is not
// ended by the region.
bool Mapping::begin_end(const Items& items, Plan& plan, uint64_t task) {
  Guard guard(lock_);
  Array<Piece*> pieces;
  for (int32_t i = 0; i < items.count; ++i) {
    Piece* of_data = has_data(items.types[i]) ? piece_at_end(items, i) : nullptr;
    for (Piece* piece : {of_data, piece_of_slot(items, i)}) {
      if (piece == nullptr || !is_user(piece, task)) continue;
      bool goes = piece->count() == 1 && !piece->forever;
      if (goes && piece->busy != nullptr && !piece->busy->leaves) return false;
      pieces.push(piece);
    }
  }
  begin_construct(items);
  for (Piece* piece : pieces) {
    if (piece->is_of_regions() || !is_first_count(piece, 0)) continue;
    forget_user(piece, task);
    --piece->regions;
    if (!leaves(piece)) take_last(piece, plan);
  }
  for (int32_t i = 0; i < items.count; ++i) {
    if (!has_no_storage(items.types[i])) copy_item_back(items, i, plan);
  }
  note_busy(plan, true);
  leave_brought(plan, task);
  return true;
}

// A transient map goes with the last of its regions. Called after note_busy, as these entries are in flight by their
// own Busy.
void Mapping::leave_brought(Plan& plan, uint64_t task) {
  for (Array<Piece*>* pieces : {&plan.filled, &plan.shared}) {
    for (Piece* piece : *pieces) {
      forget_user(piece, task);
      if (--piece->regions != 0) continue;
      piece->next = plan.pieces;
      plan.pieces = piece;
    }
  }
}

bool Mapping::begin_update(const Items& items, Plan& plan, const Sent& sent) {
  Guard guard(lock_);
  if (!is_free(items)) return false;
  plan_update(items, plan);
  wait_for_copies(items, sent);
  return true;
}

// Whether the construct can map the bytes without waiting. Adds to `gone` the entries that overlap the bytes and that
// are removed by constructs ordered before this one. Adds the bytes to `absent` if they need an entry.
bool Mapping::may_enter_bytes(const Absent& bytes, bool of_region, const Sent& sent, Array<Piece*>& gone,
                              Array<Absent>& absent) const {
  uintptr_t begin = bytes.begin, end = begin + bytes.bytes, at = begin;
  auto* piece = static_cast<Piece*>(pieces_.first_overlap(begin, end));
  while (piece != nullptr && leaves(piece)) {
    if (begin == end) return false;
    if (!is_over(piece, sent)) return of_region && piece->is_of_regions() && at == begin && piece->contains(begin, end);
    gone.push(piece);
    at = piece->end;
    piece = at < end ? static_cast<Piece*>(pieces_.first_overlap(at, end)) : nullptr;
  }
  if (piece != nullptr) {
    bool is_free = piece->busy == nullptr || piece->busy->is_sent;
    bool is_known = piece->contains(begin, end) || (of_region && (bytes.type & kImplicit) != 0);
    return at == begin && is_known && is_kept(piece) && is_free;
  }
  if (begin != end) absent.push(bytes);
  return (bytes.type & kPresent) == 0;
}

// Whether the construct can map the item without waiting.
bool Mapping::may_enter(const Items& items, int32_t i, const Sent& sent, Array<Piece*>& gone,
                        Array<Absent>& absent) const {
  uint64_t type = items.types[i];
  if (has_no_storage(type)) return true;
  if (is_wanted_again(type) || copies_always(items, i) || (type & (kReturn | kHold)) != 0) return false;
  if (!has_data(type)) return true;
  if (maps_slot(type)) {
    Absent slot = {reinterpret_cast<uintptr_t>(items.bases[i]), sizeof(void*), type & kPresent};
    if (!may_enter_bytes(slot, items.of_region, sent, gone, absent)) return false;
  }
  Absent data = {reinterpret_cast<uintptr_t>(items.begins[i]), bytes_with_members(items, i), type};
  return may_enter_bytes(data, items.of_region, sent, gone, absent);
}

// Creates the entries that are missing. False: the device has no memory for one of them, or one overlaps another in
// part; the entries that have been created are in the plan. A member that is not reached through a pointer is a part of
// a structure that comes before it.
bool Mapping::create_absent(Array<Absent>& absent, Plan& plan) {
  for (const Absent& one : absent) {
    if (Range* other = pieces_.first_overlap(one.begin, one.begin + one.bytes)) {  // created for another item
      bool is_known = other->contains(one.begin, one.begin + one.bytes) || (of_region_ && (one.type & kImplicit) != 0);
      if (!is_known) return false;
      continue;
    }
    if (is_member(one.type) && (one.type & kPointerAndObject) == 0) return false;
    if (!device_->kind->ahead->has_room(device_, one.bytes)) return false;
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
    const Piece* of_slot = piece_of_slot(items, i);
    if (of_slot == nullptr && has_slot(items.types[i]) && has_data(items.types[i])) return false;
    if (of_slot == nullptr || of_slot->busy == &plan.busy) continue;
    if ((of_slot->busy != nullptr && !of_slot->busy->is_sent) || !is_attached(items, i)) return false;
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

// True: all data that the construct maps has an entry. False: nothing has changed, but plan.pieces are to be released.
bool Mapping::make_way(const Items& items, Plan& plan, const Sent& sent) {
  Array<Piece*> gone;
  Array<Absent> absent;
  for (int32_t i = 0; i < items.count; ++i) {
    if (!may_enter(items, i, sent, gone, absent)) return false;
  }
  begin_construct(items);
  for (Piece* piece : gone) {
    if (!piece->is_off_list) take_off_list(piece);
    piece->is_off_list = true;
  }
  if (!create_absent(absent, plan) || !may_attach(items, plan)) {
    for (Piece* piece = plan.pieces; piece != nullptr; piece = piece->next) take_off_list(piece);
    for (Piece* piece : gone) {
      if (piece->is_off_list) pieces_.insert(piece);
      piece->is_off_list = false;
    }
    return false;
  }
  for (Piece* piece = plan.pieces; piece != nullptr; piece = piece->next) plan.filled.push(piece);
  return true;
}

void Mapping::release_pieces(Plan& plan) {
  while (Piece* piece = plan.pieces) {
    plan.pieces = piece->next;
    release_piece(piece);
  }
}

bool Mapping::begin_enter(const Items& items, Plan& plan, const Sent& sent) {
  {
    Guard guard(lock_);
    if (make_way(items, plan, sent)) {
      add(items, plan);
      attach_new(plan);
      note_busy(plan, false);
      note_sent(plan.busy, sent);
      plan.pieces = nullptr;
      return true;
    }
  }
  release_pieces(plan);
  return false;
}

// Counts the region in the entry. An entry that the region has created counts it already.
void Mapping::count_brought(Piece* piece, Plan& plan, const Sent& sent) {
  if (!is_first_count(piece, 0)) return;
  ++piece->regions;
  if (piece->is_of_regions()) plan.shared.push(piece);
  for (uint64_t user : piece->users) {
    if (piece->is_of_regions()) plan.sharers.push(user);
  }
  piece->users.push(sent.task);
}

void Mapping::use_brought(const Items& items, int32_t i, Plan& plan, const Sent& sent) {
  uint64_t type = items.types[i];
  if (has_slot(type)) plan.attachments.push(attachment_of(items, i));
  Piece *of_data = has_data(type) ? piece_at_end(items, i) : nullptr, *of_slot = piece_of_slot(items, i);
  for (Piece* piece : {of_data, of_slot}) {
    if (piece == nullptr) continue;
    if (piece == of_data || maps_slot(type)) count_brought(piece, plan, sent);
    bool is_created = piece->busy == &plan.busy;
    if (!is_created && piece->busy != nullptr && piece->busy->operation != Busy::kNoOperation)
      sent.also_behind(sent.of, piece->busy->operation);
  }
}

// Called when pointers are attached, which no copy touches.
void Mapping::copy_brought(const Items& items, int32_t i, Plan& plan) const {
  uint64_t type = items.types[i];
  Piece* piece = has_data(type) ? piece_at_end(items, i) : nullptr;
  if (piece == nullptr) return;
  auto begin = reinterpret_cast<uintptr_t>(items.begins[i]);
  auto bytes = static_cast<size_t>(items.sizes[i]);
  bool is_created = piece->busy == &plan.busy, is_brought = is_created || piece->is_of_regions();
  if (is_created && (type & kTo) != 0) copy_item(*piece, begin, bytes, type, plan);
  if (is_brought && (type & kFrom) != 0) copy_around(*piece, begin, bytes, plan.copies_back);
}

bool Mapping::begin_bringing(const Items& items, Plan& plan, const Sent& sent) {
  {
    Guard guard(lock_);
    if (make_way(items, plan, sent)) {
      for (int32_t i = 0; i < items.count; ++i) use_brought(items, i, plan, sent);
      attach_new(plan);
      for (int32_t i = 0; i < items.count; ++i) copy_brought(items, i, plan);
      for (Piece* piece : plan.filled) {
        piece->busy = &piece->own;
        note_sent(piece->own, sent);
        piece->own.leaves = true;
        piece->own.bytes = piece->end - piece->begin;
        piece->users.push(sent.task);
        ++busy_count_;
      }
      plan.pieces = nullptr;
      return true;
    }
  }
  release_pieces(plan);
  return false;
}

void Mapping::note_filling(Plan& plan, uint64_t filled_by) {
  for (Piece* piece : plan.filled) piece->own.operation = filled_by;
}

void Mapping::finish_enter(Plan& plan) {
  if (plan.filled.count() == 0) return;
  Guard guard(lock_);
  --busy_count_;
  for (Piece* piece : plan.filled) {
    if (piece->busy == &plan.busy) piece->busy = nullptr;
    piece->empty = false;
  }
  wake(&plan.busy);
}

bool Mapping::may_exit(const Items& items, int32_t i, const Sent& sent) const {
  uint64_t type = items.types[i];
  if (!has_data(type)) return true;
  if ((type & kHold) != 0) return false;
  if (maps_slot(type) && !may_leave(piece_of_slot(items, i), 0, sent)) return false;
  return may_leave(piece_at_end(items, i), type, sent);
}

bool Mapping::may_leave(Piece* piece, uint64_t type, const Sent& sent) {
  if (piece == nullptr || leaves(piece)) {
    return (type & kPresent) == 0 && (piece == nullptr || is_over(piece, sent));
  }
  if (piece->busy != nullptr && !is_behind(sent, *piece->busy)) return false;
  return is_kept(piece) || (type & kAlways) == 0;
}

bool Mapping::begin_exit(const Items& items, Plan& plan, const Sent& sent) {
  Guard guard(lock_);
  for (int32_t i = 0; i < items.count; ++i) {
    if (!may_exit(items, i, sent)) return false;
  }
  begin_construct(items);
  of_region_ = false;
  plan.sent = &sent;
  subtract(items, plan);
  plan.sent = nullptr;
  note_busy(plan, true);
  note_sent(plan.busy, sent);
  return true;
}

}  // namespace marline::offload::data
