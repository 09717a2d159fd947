// SPDX-License-Identifier: Apache-2.0
//
// The data environment for constructs that are sent ahead (sent.hpp): they must not wait. Each function looks at all items
// first, and changes nothing if the construct has to be left to a thread.
//
// Invariants. A piece that a construct which is sent ahead fills or empties is busy with it until the construct's task
// ends, as for those that wait. So constructs without an order to it wait as ever. Those that come behind it go on: what
// it fills is there, and their operations come behind its copies; what it empties is not there, and its record, no longer
// in the list, is its own to release. A piece is taken by one construct alone, and only from one that it comes behind,
// whose task has ended before. A piece that regions have brought is busy with itself, since it leaves with the last of
// them; only such regions share it.
#include "mapping/copies.hpp"
#include "mapping/mapping.hpp"
#include "mapping/plan.hpp"
#include "mapping/sent.hpp"

namespace marline::target {

using namespace map_type;

namespace {

bool leaves(const Piece* piece) { return piece->busy != nullptr && piece->busy->leaves; }

// By an enter data or the like, not for regions alone.
bool is_kept(const Piece* piece) { return piece->references + piece->holds != 0 || piece->forever; }

bool is_behind(const Sent& sent, const Busy& busy) { return busy.is_sent && sent.is_behind(sent.of, busy.task); }

// Of a piece that leaves: whether it has left for the construct.
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

bool covers(const Items& items, uintptr_t address) {
  for (int32_t i = 0; i < items.count; ++i) {
    bool is_data = !has_no_storage(items.types[i]) && (items.types[i] & kAttach) == 0;
    if (is_data && address - reinterpret_cast<uintptr_t>(items.begins[i]) < static_cast<size_t>(items.sizes[i]))
      return true;
  }
  return false;
}

}  // namespace

// How often the piece is mapped for a construct: regions that it comes behind are over.
uint64_t Mapping::count_behind(const Piece* piece, const Sent* sent) {
  uint64_t count = piece->count();
  if (sent == nullptr) return count;
  auto* changed = const_cast<Piece*>(piece);
  for (uint64_t user : changed->users) count -= sent->is_behind(sent->of, user) ? 1 : 0;
  return count;
}

// Whether nothing is at work on the items but enter data that has been sent ahead.
bool Mapping::is_free(const Items& items) const {
  for (int32_t i = 0; i < items.count && busy_count_ != 0; ++i) {
    bool attaches = (items.types[i] & kAttach) != 0;  // which needs nothing of the data
    const Busy* busy = attaches ? nullptr : busy_at(items, i);
    if (busy == nullptr) continue;
    if (!busy->is_sent || busy->leaves || (items.types[i] & kPointerAndObject) != 0) return false;
  }
  return true;
}

void Mapping::wait_for_copies(const Items& items, const Sent& sent) const {
  for (int32_t i = 0; i < items.count && busy_count_ != 0; ++i) {
    const Busy* busy = busy_at(items, i);
    if (busy != nullptr && busy->operation != Busy::kNoOperation) sent.also_behind(sent.of, busy->operation);
  }
}

// Whether a region has nothing to do for the item but to count its piece; null: it has none, and needs none. A piece
// that is there for other regions alone does not count: this region may come behind them, and must find the host's data
// then.
bool Mapping::is_there(const Items& items, int32_t i, Piece*& piece) const {
  uint64_t type = items.types[i];
  if (has_no_storage(type)) return true;
  bool moves = (type & kAlways) != 0 && (type & (kTo | kFrom)) != 0;
  if (moves || is_member(type) || (type & (kPointerAndObject | kReturn | kHold)) != 0) return false;
  auto begin = reinterpret_cast<uintptr_t>(items.begins[i]);
  if ((type & kAttach) != 0) {  // a pointer that is not mapped is not attached
    return find(reinterpret_cast<uintptr_t>(items.bases[i]), sizeof(void*)) == nullptr || find(begin, 0) == nullptr;
  }
  auto bytes = static_cast<size_t>(items.sizes[i]);
  piece = piece_at_end(items, i);
  if (piece == nullptr) return bytes == 0 && (type & kPresent) == 0;
  return is_kept(piece);
}

uintptr_t Mapping::piece_of(const Items& items, int32_t i) {
  Guard guard(lock_);
  const Piece* piece = piece_at_end(items, i);
  return piece != nullptr ? piece->begin : 0;
}

bool Mapping::begin_present(const Items& items, const Sent& sent) {
  Guard guard(lock_);
  if (!is_free(items)) return false;
  Array<Piece*> pieces;
  for (int32_t i = 0; i < items.count; ++i) {
    Piece* piece = nullptr;
    if (!is_there(items, i, piece)) return false;
    pieces.push(piece);
  }
  begin_construct(items);
  for (Piece* piece : pieces) {
    if (piece == nullptr || !is_first_count(piece, 0)) continue;
    ++count_for(piece, 0);
    piece->users.push(sent.task);
  }
  wait_for_copies(items, sent);
  return true;
}

// The end of a region that has begun so. A piece that has been taken, and perhaps mapped anew, is not the region's to end.
bool Mapping::begin_end(const Items& items, Plan& plan, uint64_t task) {
  Guard guard(lock_);
  Array<Piece*> pieces;
  for (int32_t i = 0; i < items.count; ++i) {
    bool is_data = !has_no_storage(items.types[i]) && (items.types[i] & kAttach) == 0;
    Piece* piece = is_data ? piece_at_end(items, i) : nullptr;
    if (piece == nullptr || !is_user(piece, task)) continue;
    bool goes = piece->count() == 1 && !piece->forever;
    if (goes && piece->busy != nullptr && !piece->busy->leaves) return false;
    pieces.push(piece);
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

// What regions have brought goes with the last of them. Behind `note_busy`: these pieces are busy with themselves.
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

// Adds to `gone` what has left for the construct and is in its way, and to `absent` the item if it needs a piece.
bool Mapping::may_enter(const Items& items, int32_t i, const Sent& sent, Array<Piece*>& gone,
                        Array<int32_t>& absent) const {
  uint64_t type = items.types[i];
  if (has_no_storage(type)) return true;
  if (is_member(type) || (type & (kAlways | kPointerAndObject | kReturn | kHold)) != 0) return false;
  if ((type & kAttach) != 0) {  // a pointer that is not mapped is not attached
    auto slot = reinterpret_cast<uintptr_t>(items.bases[i]);
    return pieces_.first_overlap(slot, slot + sizeof(void*)) == nullptr && !covers(items, slot);
  }
  auto begin = reinterpret_cast<uintptr_t>(items.begins[i]);
  uintptr_t end = begin + static_cast<size_t>(items.sizes[i]), at = begin;
  auto* piece = static_cast<Piece*>(pieces_.first_overlap(begin, end));
  while (piece != nullptr && leaves(piece)) {
    if (begin == end) return false;
    if (!is_over(piece, sent))
      return items.of_region && piece->is_of_regions() && at == begin && piece->contains(begin, end);
    gone.push(piece);
    at = piece->end;
    piece = at < end ? static_cast<Piece*>(pieces_.first_overlap(at, end)) : nullptr;
  }
  if (piece != nullptr) {
    bool is_free = piece->busy == nullptr || piece->busy->is_sent;
    bool is_known = piece->contains(begin, end) || (items.of_region && (type & kImplicit) != 0);
    return at == begin && is_known && is_kept(piece) && is_free;
  }
  if (begin != end) absent.push(i);
  return (type & kPresent) == 0;
}

// False: the device has no memory for one of them; those that have been created are in the plan.
bool Mapping::create_absent(const Items& items, Array<int32_t>& absent, Plan& plan) {
  for (int32_t i : absent) {
    auto begin = reinterpret_cast<uintptr_t>(items.begins[i]);
    auto bytes = static_cast<size_t>(items.sizes[i]);
    if (pieces_.first_overlap(begin, begin + bytes) != nullptr) continue;  // of another item
    if (!device_->kind->ahead->has_room(device_, bytes)) return false;
    if (try_create(begin, bytes, items.types[i], plan) == nullptr) return false;
  }
  return true;
}

// All that the construct maps has a piece behind it, or nothing has changed but that plan.pieces are to be released.
bool Mapping::make_way(const Items& items, Plan& plan, const Sent& sent) {
  Array<Piece*> gone;
  Array<int32_t> absent;
  for (int32_t i = 0; i < items.count; ++i) {
    if (!may_enter(items, i, sent, gone, absent)) return false;
  }
  begin_construct(items);
  for (Piece* piece : gone) {
    if (!piece->is_off_list) pieces_.remove(piece);
    piece->is_off_list = true;
  }
  if (!create_absent(items, absent, plan)) {
    for (Piece* piece = plan.pieces; piece != nullptr; piece = piece->next) pieces_.remove(piece);
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
      note_busy(plan, false);
      note_sent(plan.busy, sent);
      plan.pieces = nullptr;
      return true;
    }
  }
  release_pieces(plan);
  return false;
}

// A piece that has been created counts the region already.
void Mapping::use_brought(const Items& items, int32_t i, Plan& plan, const Sent& sent) {
  uint64_t type = items.types[i];
  if (has_no_storage(type) || (type & kAttach) != 0) return;
  Piece* piece = piece_at_end(items, i);
  if (piece == nullptr) return;
  bool is_created = piece->busy == &plan.busy, is_first = is_first_count(piece, 0);
  if (is_first) {
    ++piece->regions;
    if (piece->is_of_regions()) plan.shared.push(piece);
    for (uint64_t user : piece->users) {
      if (piece->is_of_regions()) plan.sharers.push(user);
    }
    piece->users.push(sent.task);
  }
  auto begin = reinterpret_cast<uintptr_t>(items.begins[i]);
  auto bytes = static_cast<size_t>(items.sizes[i]);
  if (is_created && (type & kTo) != 0) copy_around(*piece, begin, bytes, plan.copies);
  bool is_brought = is_created || piece->is_of_regions();
  if (is_brought && (type & kFrom) != 0) copy_around(*piece, begin, bytes, plan.copies_back);
  if (!is_created && piece->busy != nullptr && piece->busy->operation != Busy::kNoOperation)
    sent.also_behind(sent.of, piece->busy->operation);
}

bool Mapping::begin_bringing(const Items& items, Plan& plan, const Sent& sent) {
  {
    Guard guard(lock_);
    if (make_way(items, plan, sent)) {
      for (int32_t i = 0; i < items.count; ++i) use_brought(items, i, plan, sent);
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
  if (has_no_storage(type) || (type & kAttach) != 0) return true;
  if (is_member(type) || (type & (kPointerAndObject | kHold)) != 0) return false;
  Piece* piece = piece_at_end(items, i);
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

}  // namespace marline::target
