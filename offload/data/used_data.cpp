// SPDX-License-Identifier: Apache-2.0
//
// Collects the data that several regions use, and lists it as items.
#include "data/used_data.hpp"

#include <algorithm>
#include <tuple>

namespace marline::offload::data {

bool UsedData::Used::operator<(const Used& other) const {
  return std::tie(entry, type, begin, end) < std::tie(other.entry, other.type, other.begin, other.end);
}

bool UsedData::Attached::operator<(const Attached& other) const {
  return std::tie(slot, pointee) < std::tie(other.slot, other.pointee);
}

bool UsedData::Descriptor::operator<(const Descriptor& other) const {
  return std::tie(begin, end) < std::tie(other.begin, other.end);
}

namespace {

template <class T>
void push_unless_last(List<T>& list, const T& one) {
  if (list.is_empty() || list.back() < one || one < list.back()) list.push(one);
}

template <class T>
void keep_each_once(List<T>& list) {
  std::sort(list.begin(), list.end());
  List<T> each;
  for (const T& one : list) push_unless_last(each, one);
  list.swap(each);
}

}  // namespace

bool UsedData::add(Mapping& mapping, const Items& items) {
  for (int32_t i = 0; i < items.count; ++i) {
    if (has_no_storage(items.types[i])) continue;
    if ((items.types[i] & (map_type::kAttach | map_type::kPointerAndObject)) != 0)
      push_unless_last(attached_, {items.bases[i], items.begins[i]});
    if ((items.types[i] & map_type::kAttach) != 0) continue;
    auto begin = reinterpret_cast<uintptr_t>(items.begins[i]);
    if ((items.types[i] & map_type::kDescriptor) != 0)
      push_unless_last(descriptors_, {begin, begin + static_cast<size_t>(items.sizes[i])});
    uintptr_t entry = mapping.map_entry_of(items, i);
    if (entry == 0 && begin != 0) return false;
    if (entry == 0) continue;
    push_unless_last(ranges_,
                     {entry, begin, begin + static_cast<size_t>(items.sizes[i]), items.types[i] & map_type::kFrom});
    if ((items.types[i] & map_type::kPointerAndObject) == 0 || is_member(items.types[i])) continue;
    auto slot = reinterpret_cast<uintptr_t>(items.bases[i]);
    push_unless_last(ranges_, {mapping.map_entry_of(items, i, true), slot, slot + sizeof(void*), 0});
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
