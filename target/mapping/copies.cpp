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

// The innermost dimension counts elements of its own stride and is one run if they touch; its size is that of the next
// one's, {0, 1, element}, which compilers append. The last one before that: its offset counts elements, whatever its
// stride.
uint64_t bytes_before(const Dimension* list, int64_t dimensions) {
  return list[0].offset * (dimensions == 2 ? list[1].stride : list[0].stride);
}

void copy_dimensions(Piece& piece, uintptr_t base, const Dimension* list, int64_t dimensions, Array<Transfer>& to) {
  const Dimension& first = list[0];
  base += bytes_before(list, dimensions);
  if (dimensions > 1) {
    for (uint64_t i = 0; i < first.count; ++i) {
      copy_dimensions(piece, base + i * first.stride, list + 1, dimensions - 1, to);
    }
    return;
  }
  size_t bytes = first.count * first.stride;
  if (!piece.contains(base, base + bytes)) {
    fatal("target update of a section that is not mapped as a whole: %#lx lies outside of the %zu bytes at %#lx", base,
          piece.end - piece.begin, piece.begin);
  }
  copy_around(piece, base, bytes, to);
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

uintptr_t begin_of_parts(const Items& items, int32_t i) {
  auto at = reinterpret_cast<uintptr_t>(items.bases[i]);
  auto* list = static_cast<const Dimension*>(items.begins[i]);
  for (int64_t k = 0; k < items.sizes[i]; ++k) at += bytes_before(list + k, items.sizes[i] - k);
  return at;
}

void copy_parts(Piece& piece, const Items& items, int32_t i, Array<Transfer>& to) {
  copy_dimensions(piece, reinterpret_cast<uintptr_t>(items.bases[i]), static_cast<const Dimension*>(items.begins[i]),
                  items.sizes[i], to);
}

}  // namespace marline::target
