// SPDX-License-Identifier: Apache-2.0
//
// Lists the copies of a map entry's data, without its attached pointers, and makes them.
#include "data/copies.hpp"

#include "device/contract/tool_reports.hpp"

#include <algorithm>

namespace marline::offload::data {

namespace {

// Appends a copy, or extends one of the last copies if that one ends where the new one begins. A mapper names members
// and elements in turn with the data that their pointers refer to, so neighbours are not always next to each other in
// the list.
void copy_run(MapEntry& entry, uintptr_t begin, uintptr_t end, List<Transfer, 8>& to) {
  if (begin >= end) return;
  constexpr uint32_t kTurns = 4;
  uint64_t device = entry.on_device(begin);
  uint32_t count = entry.begin < begin ? to.count() : 0;  // else no earlier copy can end there
  for (uint32_t i = count; i > 0 && count - i < kTurns; --i) {
    Transfer& other = to[i - 1];
    auto on_host = reinterpret_cast<uintptr_t>(other.host);
    if (on_host + other.bytes != begin || other.device + other.bytes != device) continue;
    if (other.fills != entry.is_filled_now()) continue;
    other.bytes += end - begin;
    return;
  }
  to.push({device, reinterpret_cast<void*>(begin), end - begin, entry.is_filled_now()});
}

// Appends the copies of a section, one for each run of its innermost dimension. Returns the begin of a run that is not
// inside the map entry; 0: all runs are inside.
uintptr_t copy_dimensions(MapEntry& entry, uintptr_t begin, const Dimension* list, int64_t dimensions,
                          List<Transfer, 8>& to) {
  const Dimension& first = list[0];
  if (dimensions > 1) {
    uintptr_t outside = 0;
    for (uint64_t i = 0; i < first.count && outside == 0; ++i) {
      outside = copy_dimensions(entry, begin + i * first.stride, list + 1, dimensions - 1, to);
    }
    return outside;
  }
  size_t bytes = first.count * first.stride;
  if (!entry.contains(begin, begin + bytes)) return begin;
  copy_around(entry, begin, bytes, to);
  return 0;
}

}  // namespace

void copy_around(MapEntry& entry, uintptr_t begin, size_t bytes, List<Transfer, 8>& to) {
  uintptr_t end = std::min(begin + bytes, entry.end);
  begin = std::max(begin, entry.begin);
  Attachments::Sweep sweep = entry.attachments.sweep_from(begin);
  while (uintptr_t slot = entry.attachments.next(sweep, end)) {
    copy_run(entry, begin, slot, to);
    begin = slot + sizeof(void*);
  }
  copy_run(entry, begin, end, to);
}

void make_copies(Device* device, const List<Transfer, 8>& copies, bool to_device, ReportedConstruct* reported) {
  bool is_heard = is_reported(MARLINE_ON_DATA | MARLINE_ON_TIMES);  // each copy is reported to a tool
  bool one_by_one = device->kind->copy_all == nullptr || copies.count() < 2 || is_heard;
  List<DeviceCopy, 8> all;
  for (const Transfer& copy : copies) {
    if (!one_by_one) {
      all.push({copy.device, copy.host, copy.bytes, to_device, nullptr, copy.fills});
    } else if (to_device) {
      copy_to(device, copy.device, copy.host, copy.bytes, reported);
    } else {
      copy_from(device, copy.host, copy.device, copy.bytes, reported);
    }
  }
  if (!one_by_one) device->kind->copy_all(device, all.begin(), all.count());
}

uintptr_t copy_parts(MapEntry& entry, const Items& items, int32_t i, List<Transfer, 8>& to) {
  auto* list = static_cast<const Dimension*>(items.begins[i]);
  return copy_dimensions(entry, begin_of_parts(items, i), list, items.sizes[i], to);
}

}  // namespace marline::offload::data
