// SPDX-License-Identifier: Apache-2.0
//
// Joins spans that continue one another.
#include "data/spans.hpp"

#include "data/mapper.hpp"

#include <algorithm>

namespace marline::offload::data {

namespace {

using namespace map_type;

// An item without a length, such as a pointer that a region uses, stands for the whole map entry. So does an implicit
// item, which may cover less of the variable than is mapped.
Span span_of(const MapEntry& entry, uintptr_t begin, size_t bytes, uint64_t type) {
  uintptr_t end = std::min(begin + bytes, entry.end);
  begin = std::max(begin, entry.begin);
  bool is_written = (type & (kTo | kFrom)) != kTo;
  if (bytes == 0 || (type & kImplicit) != 0 || begin >= end)
    return {entry.address, entry.bytes(), is_written, true, reinterpret_cast<void*>(entry.begin)};
  return {entry.on_device(begin), end - begin, is_written, true, reinterpret_cast<void*>(begin)};
}

// Whether the span begins where `other` ends, or lies in it. Map entries in one block are like one entry: nothing lies
// between them.
bool goes_on(const Span& other, const MapEntry& entry, const Span& span) {
  if (other.bytes == 0 || other.host == nullptr) return false;
  if (other.is_written != span.is_written || other.has_pointers != span.has_pointers) return false;
  bool is_in_block = entry.block != nullptr;
  uint64_t begin = is_in_block && span.address == entry.address ? entry.allocation : span.address;
  uint64_t first = is_in_block ? entry.block->allocation : entry.address;
  return first <= other.address && other.address <= span.address && begin <= other.address + other.bytes;
}

// Appends the span, or extends one of the last spans that it continues. That joins the elements that a mapper names,
// each of which has several spans. Spans in different map entries are not joined otherwise.
void push_span(const MapEntry& entry, const Span& span, List<Span, 4>& to) {
  constexpr uint32_t kTurns = 4;
  uint32_t count = to.count();
  for (uint32_t i = count; i > 0 && count - i < kTurns; --i) {
    Span& other = to[i - 1];
    if (!goes_on(other, entry, span)) continue;
    other.bytes = std::max(other.address + other.bytes, span.address + span.bytes) - other.address;
    return;
  }
  to.push(span);
}

// Finds the smallest item in which the address lies. False: there is none.
bool find_item(const Items& items, uintptr_t address, uintptr_t& begin, uintptr_t& end) {
  size_t smallest = SIZE_MAX;
  for (int32_t i = 0; i < items.count; ++i) {
    if (!has_data(items.types[i])) continue;
    uintptr_t at = begin_of(items, i);
    size_t bytes = bytes_of(items, i);
    if (address - at >= bytes || bytes >= smallest) continue;
    smallest = bytes;
    begin = at;
    end = at + bytes;
  }
  return smallest != SIZE_MAX;
}

}  // namespace

void list_spans(DataEnvironment& environment, const Items& items, List<Span, 4>& to) {
  Expansion expansion(items);
  const Items& all = expansion.items();
  LockedTable table(environment);
  for (int32_t i = 0; i < all.count; ++i) {
    uint64_t type = all.types[i];
    uintptr_t begin = begin_of(all, i), base = base_of(all, i);
    if ((type & kLiteral) != 0) {
      if ((type & kParameter) != 0) to.push({base, 0});
      continue;
    }
    size_t bytes = (type & kAttach) != 0 ? 0 : bytes_of(all, i);
    if (is_own_unless_mapped(type)) {
      const MapEntry* entry = table->find_variable(base, bytes);
      if (entry != nullptr) push_span(*entry, span_of(*entry, base, bytes, type), to);
    }
    if ((type & kPrivate) != 0) continue;
    if (const MapEntry* entry = table->first_overlap(begin, bytes)) {
      push_span(*entry, span_of(*entry, begin, bytes, type), to);
    } else if ((type & kParameter) != 0) {
      to.push({base, 0});  // the kernel gets the pointer's value, which may be a device address
    }
    if (!has_slot(type)) continue;
    const MapEntry* of_slot = table->first_overlap(base, sizeof(void*));
    if (of_slot != nullptr) push_span(*of_slot, span_of(*of_slot, base, sizeof(void*), type), to);
  }
}

// A depend clause may name an address without a length. Such an address stands for the smallest item in which it lies,
// or else for the whole map entry. Named memory that is not mapped is passed on as it is: its address is a device
// address, or is named only to order tasks.
void list_named(DataEnvironment& environment, const Items& items, Names& names, List<Span, 4>& to) {
  Expansion expansion(items);
  LockedTable table(environment);
  for (const Name& name : names) {
    auto address = reinterpret_cast<uintptr_t>(name.address);
    const MapEntry* entry = table->first_overlap(address, 1);
    if (entry == nullptr) {
      to.push({address, name.bytes});
      continue;
    }
    uintptr_t begin = address, end = address + name.bytes;
    if (name.bytes == 0 && !find_item(expansion.items(), address, begin, end)) begin = entry->begin, end = entry->end;
    begin = std::max(begin, entry->begin);
    end = std::min(end, entry->end);
    to.push({entry->on_device(begin), end - begin});
  }
}

}  // namespace marline::offload::data
