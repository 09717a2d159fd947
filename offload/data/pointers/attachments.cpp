// SPDX-License-Identifier: Apache-2.0
//
// Keeps the attached pointers of a map entry in two sorted arrays.
#include "data/pointers/attachments.hpp"

#include <algorithm>

namespace marline::offload::data {

namespace {

// The index of the first attachment that ends after `address`.
uint32_t first_successor(List<Attachment, 1>& list, uintptr_t address) {
  auto* found = std::lower_bound(list.begin(), list.end(), address,
                                 [](const Attachment& one, uintptr_t at) { return one.slot + sizeof(void*) <= at; });
  return static_cast<uint32_t>(found - list.begin());
}

Attachment* find_in(List<Attachment, 1>& list, uintptr_t slot) {
  uint32_t at = first_successor(list, slot);
  return at < list.count() && list[at].slot == slot ? &list[at] : nullptr;
}

uintptr_t slot_at(List<Attachment, 1>& list, uint32_t at) { return at < list.count() ? list[at].slot : UINTPTR_MAX; }

}  // namespace

Attachment* Attachments::find(uintptr_t slot) {
  Attachment* known = find_in(in_order_, slot);
  return known != nullptr ? known : find_in(late_, slot);
}

bool Attachments::note(uintptr_t slot, uint64_t value) {
  Attachment* known = find(slot);
  if (known == nullptr) {
    add(slot, value);
    return true;
  }
  bool same = known->value == value;
  known->value = value;
  return !same;
}

bool Attachments::has(uintptr_t slot, uint64_t value) {
  Attachment* known = find(slot);
  return known != nullptr && known->value == value;
}

void Attachments::add(uintptr_t slot, uint64_t value) {
  size_t count = in_order_.count();
  if (count == 0 || in_order_[count - 1].slot < slot) return void(in_order_.push({slot, value}));
  late_.insert(first_successor(late_, slot), {slot, value});
  if (late_.count() > 64 + count / 256) merge();
}

// Merges backwards, so that no other memory is needed.
void Attachments::merge() {
  uint32_t left = in_order_.count(), late = late_.count();
  for (const Attachment& one : late_) in_order_.push(one);
  for (uint32_t to = left + late; late != 0;) {
    bool from_left = left != 0 && in_order_[left - 1].slot > late_[late - 1].slot;
    in_order_[--to] = from_left ? in_order_[--left] : late_[--late];
  }
  late_.shrink(0);
}

Attachments::Sweep Attachments::sweep_from(uintptr_t address) {
  return {first_successor(in_order_, address), first_successor(late_, address)};
}

uintptr_t Attachments::next(Sweep& sweep, uintptr_t end) {
  uintptr_t first = slot_at(in_order_, sweep.in_order), second = slot_at(late_, sweep.late);
  if (std::min(first, second) >= end) return 0;
  ++(first < second ? sweep.in_order : sweep.late);
  return std::min(first, second);
}

}  // namespace marline::offload::data
