// SPDX-License-Identifier: Apache-2.0
//
// Keeps the pointers that are attached whenever they get storage (wanted.hpp). There is at most one record for a
// pointer, and it goes together with the section, so there are no more records than pointers to mapped data.
#include "data/pointers/wanted.hpp"

#include "base/make.hpp"
#include "base/report.hpp"
#include "data/data_environment.hpp"
#include "data/plan.hpp"

#include <cstdlib>
#include <new>

namespace marline::offload::data {

namespace {

void add_to_entry(Wanted* wanted) {
  wanted->next = wanted->of->wanted;
  wanted->link = &wanted->of->wanted;
  if (wanted->next != nullptr) wanted->next->link = &wanted->next;
  wanted->of->wanted = wanted;
}

void take_from_entry(const Wanted* wanted) {
  *wanted->link = wanted->next;
  if (wanted->next != nullptr) wanted->next->link = wanted->link;
}

}  // namespace

// Records the pointer. Only for constructs with data that stays mapped when they end, so not for regions. A pointer
// that has storage is recorded, too: the storage may go and come again.
void Mapping::want(const AttachLater& one) {
  MapEntry* of_pointee = find(one.pointee, 0);
  bool is_known = one.pointer != 0 || one.is_readable;
  if (of_region_ || of_pointee == nullptr || !is_known) return;
  uintptr_t pointer = one.pointer != 0 ? one.pointer : *reinterpret_cast<uintptr_t*>(one.slot);
  while (auto* other = static_cast<Wanted*>(wanted_.first_overlap(one.slot, one.slot + sizeof(void*)))) {
    if (other->begin == one.slot && other->of == of_pointee) {
      other->pointee = one.pointee;
      other->pointer = pointer;
      return;
    }
    wanted_.remove(other);
    take_from_entry(other);
    std::free(other);
  }
  auto* wanted = make<Wanted>("the list of mapped data");
  wanted->begin = one.slot;
  wanted->end = one.slot + sizeof(void*);
  wanted->of = of_pointee;
  wanted->pointee = one.pointee;
  wanted->pointer = pointer;
  add_to_entry(wanted);
  wanted_.insert(wanted);
}

// Plans to attach recorded pointers that lie in a map entry which the plan's construct has created.
void Mapping::attach_wanted(const MapEntry* created, Plan& plan) {
  uintptr_t at = created->begin;
  while (auto* wanted = static_cast<Wanted*>(at < created->end ? wanted_.first_overlap(at, created->end) : nullptr)) {
    plan.attachments.push({wanted->begin, wanted->pointee, false, wanted->pointer, true});
    at = wanted->end;
  }
}

// Takes the map entry off the list, so that it is not found any more, and removes its records of pointers.
void Mapping::take_off_list(MapEntry* entry) {
  entries_.remove(entry);
  while (Wanted* wanted = entry->wanted) {
    take_from_entry(wanted);
    wanted_.remove(wanted);
    std::free(wanted);
  }
}

}  // namespace marline::offload::data
