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

Busy* Mapping::busy_at(const Items& items, int32_t i) const {
  if (has_no_storage(items.types[i])) return nullptr;
  auto begin = reinterpret_cast<uintptr_t>(items.begins[i]);
  auto base = reinterpret_cast<uintptr_t>(items.bases[i]);
  auto bytes = static_cast<size_t>(items.sizes[i]);
  if ((items.types[i] & map_type::kNonContiguous) != 0) begin = begin_of_parts(items, i), bytes = 0;
  Range* ranges[] = {pieces_.first_overlap(begin, begin + bytes),
                     (items.types[i] & (map_type::kPointerAndObject | map_type::kAttach)) != 0
                         ? pieces_.first_overlap(base, base + 8)
                         : nullptr};
  for (Range* range : ranges) {
    Busy* busy = range != nullptr ? static_cast<Piece*>(range)->busy : nullptr;
    if (busy != nullptr) return busy;
  }
  return nullptr;
}

Busy* Mapping::busy_among(const Items& items) const {
  for (int32_t i = 0; i < items.count; ++i) {
    if (Busy* busy = busy_at(items, i)) return busy;
  }
  return nullptr;
}

// From now on, other constructs may find the construct's entries in flight, and wait for them.
void Mapping::note_busy(Plan& plan, bool leaves) {
  if (plan.pieces == nullptr) return;
  ++busy_count_;
  plan.busy.leaves = leaves;
  for (const Transfer& copy : plan.copies) plan.busy.bytes += copy.bytes;
}

// Called and left with the lock. True: it has waited without the lock, so everything may have changed.
bool Mapping::wait_for_busy(const Items& items) {
  Busy* busy = busy_count_ != 0 ? busy_among(items) : nullptr;
  if (busy == nullptr) return false;
  wait(busy);
  return true;
}

void Mapping::wait(Busy* busy) {
  Waiter self = {MARLINE_EVENT_INIT, busy->waiters};
  marline_event_init(&self.event);
  busy->waiters = &self;
  const char* what = busy->leaves ? "data on its way from" : "data on its way to";
  size_t bytes = busy->bytes;
  lock_.release();  // from here on `busy` may be gone with its construct's stack
  wait_for_event(&self.event, device_, what, bytes);
  lock_.take();
}

void Mapping::wake(Busy* busy) {
  for (Waiter* waiter = busy->waiters; waiter != nullptr;) {
    Waiter* next = waiter->next;  // the waiter may be gone once it is woken
    marline_event_fulfill(&waiter->event);
    waiter = next;
  }
}

namespace {

void list_busy(Range* tree, Piece*& list) {
  if (tree == nullptr) return;
  auto* piece = static_cast<Piece*>(tree);
  if (piece->busy != nullptr) {
    piece->next = list;
    list = piece;
  }
  list_busy(tree->left, list);
  list_busy(tree->right, list);
}

}  // namespace

// The list of entries of a Busy is on a stack that does not exist in the child, so all entries are searched. An entry
// that was being removed has no references left. A device in another process is lost in the child: the device's
// operations go on for the parent, and nothing is written here.
void Mapping::drop_busy() {
  Piece* list = nullptr;
  list_busy(pieces_.root(), list);
  while (list != nullptr) {
    Piece* piece = list;
    list = piece->next;
    piece->busy = nullptr;
    if (piece->empty || (piece->count() == 0 && !piece->forever)) {
      remove_piece(piece);
      continue;
    }
    piece->descriptors.clear();  // a descriptor may not have been copied
    Attachments::Sweep sweep = piece->attachments.sweep_from(piece->begin);
    while (uintptr_t slot = device_->lost ? 0 : piece->attachments.next(sweep, piece->end)) {
      uint64_t value = piece->attachments.value_of(slot);
      device_->kind->write(device_, piece->on_device(slot), &value, sizeof value);
    }
  }
  busy_count_ = 0;
}

}  // namespace marline::offload::data
