// SPDX-License-Identifier: Apache-2.0
//
// See the header.
#include "mapping/copies.hpp"

#include <algorithm>

namespace marline::target {

namespace {

void copy_run(Piece& piece, uintptr_t begin, uintptr_t end, Array<Transfer>& to) {
  if (begin < end) to.push({piece.on_device(begin), reinterpret_cast<void*>(begin), end - begin});
}

// The innermost dimension is one run. Returns what lies outside of the piece; 0: nothing.
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

uintptr_t copy_parts(Piece& piece, const Items& items, int32_t i, Array<Transfer>& to) {
  auto* list = static_cast<const Dimension*>(items.begins[i]);
  return copy_dimensions(piece, begin_of_parts(items, i), list, items.sizes[i], to);
}

}  // namespace marline::target
