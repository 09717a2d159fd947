// SPDX-License-Identifier: Apache-2.0
//
// Lists the copies of a map entry's data, without its attached pointers, and makes them.
#include "data/copies.hpp"

#include "device/contract/tell.hpp"

#include <algorithm>

namespace marline::offload::data {

namespace {

// Appends a copy, or extends one of the last copies if it ends where this one begins. That joins the members and
// elements that a mapper names, which alternate with the data that their pointers refer to.
void copy_run(Piece& piece, uintptr_t begin, uintptr_t end, Array<Transfer>& to) {
  if (begin >= end) return;
  constexpr uint32_t kTurns = 4;
  uint64_t device = piece.on_device(begin);
  uint32_t count = piece.begin < begin ? to.count() : 0;  // else no earlier copy can end there
  for (uint32_t i = count; i > 0 && count - i < kTurns; --i) {
    Transfer& other = to[i - 1];
    auto on_host = reinterpret_cast<uintptr_t>(other.host);
    if (on_host + other.bytes != begin || other.device + other.bytes != device) continue;
    if (other.fills != piece.is_filled_now()) continue;
    other.bytes += end - begin;
    return;
  }
  to.push({device, reinterpret_cast<void*>(begin), end - begin, piece.is_filled_now()});
}

// The innermost dimension is one run. Returns where a run begins that is not inside the map entry; 0: all runs are
// inside.
uintptr_t copy_dimensions(Piece& piece, uintptr_t begin, const Dimension* list, int64_t dimensions,
                          Array<Transfer>& to) {
  const Dimension& first = list[0];
  if (dimensions > 1) {
    uintptr_t outside = 0;
    for (uint64_t i = 0; i < first.count && outside == 0; ++i) {
      outside = copy_dimensions(piece, begin + i * first.stride, list + 1, dimensions - 1, to);
    }
    return outside;
  }
  size_t bytes = first.count * first.stride;
  if (!piece.contains(begin, begin + bytes)) return begin;
  copy_around(piece, begin, bytes, to);
  return 0;
}

}  // namespace

void copy_around(Piece& piece, uintptr_t begin, size_t bytes, Array<Transfer>& to) {
  uintptr_t end = std::min(begin + bytes, piece.end);
  begin = std::max(begin, piece.begin);
  Attachments::Sweep sweep = piece.attachments.sweep_from(begin);
  while (uintptr_t slot = piece.attachments.next(sweep, end)) {
    copy_run(piece, begin, slot, to);
    begin = slot + sizeof(void*);
  }
  copy_run(piece, begin, end, to);
}

void make_copies(Device* device, const Array<Transfer>& copies, bool to_device, Told* told) {
  bool is_heard = is_told(MARLINE_ON_DATA | MARLINE_ON_TIMES);  // each copy is reported to a tool
  bool one_by_one = device->kind->copy_all == nullptr || copies.count() < 2 || is_heard;
  Array<AheadCopy> all;
  for (const Transfer& copy : copies) {
    if (!one_by_one) {
      all.push({copy.device, copy.host, copy.bytes, to_device, nullptr, copy.fills});
    } else if (to_device) {
      copy_to(device, copy.device, copy.host, copy.bytes, told);
    } else {
      copy_from(device, copy.host, copy.device, copy.bytes, told);
    }
  }
  if (!one_by_one) device->kind->copy_all(device, all.begin(), all.count());
}

uintptr_t copy_parts(Piece& piece, const Items& items, int32_t i, Array<Transfer>& to) {
  auto* list = static_cast<const Dimension*>(items.begins[i]);
  return copy_dimensions(piece, begin_of_parts(items, i), list, items.sizes[i], to);
}

}  // namespace marline::offload::data
