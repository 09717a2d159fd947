// SPDX-License-Identifier: Apache-2.0
//
// The records of one map entry are a list, so that they go with the entry.
#include "data/pointers/wanted_pointers.hpp"

#include "base/make.hpp"
#include "data/map_entry.hpp"

namespace marline::offload::data {

void WantedPointers::note(uintptr_t slot, uintptr_t pointer, uintptr_t pointee, MapEntry* of) {
  while (auto* other = static_cast<Wanted*>(all_.first_overlap(slot, slot + sizeof(void*)))) {
    if (other->begin == slot && other->of == of) {
      other->pointee = pointee;
      other->pointer = pointer;
      return;
    }
    remove(other);
  }
  auto* wanted = make<Wanted>("the list of mapped data");
  wanted->begin = slot;
  wanted->end = slot + sizeof(void*);
  wanted->of = of;
  wanted->pointee = pointee;
  wanted->pointer = pointer;
  wanted->next = of->wanted;
  wanted->link = &of->wanted;
  if (wanted->next != nullptr) wanted->next->link = &wanted->next;
  of->wanted = wanted;
  all_.insert(wanted);
}

void WantedPointers::remove(Wanted* wanted) {
  all_.remove(wanted);
  *wanted->link = wanted->next;
  if (wanted->next != nullptr) wanted->next->link = wanted->link;
  std::free(wanted);
}

void WantedPointers::forget(const MapEntry* of) {
  while (of->wanted != nullptr) remove(of->wanted);
}

}  // namespace marline::offload::data
