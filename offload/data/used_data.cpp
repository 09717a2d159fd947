// SPDX-License-Identifier: Apache-2.0
//
// Collects the data that several regions use, and lists it as items.
#include "data/used_data.hpp"

#include <algorithm>

namespace marline::offload::data {

namespace {

template <class T>
void push_unless_last(List<T>& list, const T& one) {
  if (list.is_empty() || list.back() != one) list.push(one);
}

template <class T>
void keep_each_once(List<T>& list) {
  std::sort(list.begin(), list.end());
  List<T> each;
  for (const T& one : list) push_unless_last(each, one);
  list.swap(each);
}

}  // namespace

bool UsedData::add(DataEnvironment& environment, const Items& items) {
  LockedTable table(environment);
  for (int32_t i = 0; i < items.count; ++i) {
    uint64_t type = items.types[i];
    if (has_slot(type)) push_unless_last(attached_, {items.bases[i], items.begins[i]});
    if (!has_data(type)) continue;
    uintptr_t begin = begin_of(items, i), end = begin + bytes_of(items, i);
    if ((type & map_type::kDescriptor) != 0) push_unless_last(descriptors_, {begin, end});
    const MapEntry* entry = table->find_item(items, i);
    if (entry == nullptr && begin != 0) return false;
    if (entry == nullptr) continue;
    push_unless_last(ranges_, {entry->begin, type & map_type::kFrom, begin, end});
    if (!maps_slot(type)) continue;
    const MapEntry* of_slot = table->find_slot(items, i);
    uintptr_t slot = base_of(items, i);
    push_unless_last(ranges_, {of_slot != nullptr ? of_slot->begin : 0, 0, slot, slot + sizeof(void*)});
  }
  return true;
}

void UsedData::join() {
  std::sort(ranges_.begin(), ranges_.end());
  List<Used> joined;
  for (const Used& used : ranges_) {
    Used* last = joined.is_empty() ? nullptr : &joined.back();
    bool goes_on = last != nullptr && last->entry == used.entry && last->type == used.type && used.begin <= last->end;
    if (goes_on) {
      last->end = std::max(last->end, used.end);
    } else {
      joined.push(used);
    }
  }
  ranges_.swap(joined);
  keep_each_once(attached_);
  keep_each_once(descriptors_);
}

void UsedData::list_items(ItemList& to) const {
  for (const Used& used : ranges_) {
    auto* begin = reinterpret_cast<void*>(used.begin);
    to.push(begin, begin, static_cast<int64_t>(used.end - used.begin), used.type);
  }
  for (const Attached& one : attached_) to.push(one.slot, one.pointee, 0, map_type::kAttach);
  for (const Descriptor& one : descriptors_) {
    auto* begin = reinterpret_cast<void*>(one.begin);
    to.push(begin, begin, static_cast<int64_t>(one.end - one.begin),
            map_type::kTo | map_type::kAlways | map_type::kDescriptor);
  }
}

}  // namespace marline::offload::data
