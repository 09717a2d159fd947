// SPDX-License-Identifier: Apache-2.0
//
// Splits a rectangular copy into runs of bytes.
#include "construct/device/rectangle.hpp"

namespace marline {

namespace {

size_t bytes_below(const size_t* extents, const marline_rectangle_t& r) {
  size_t bytes = r.element;
  for (int i = 1; i < r.dimensions; ++i) bytes *= extents[i];
  return bytes;
}

}  // namespace

// Handles one dimension per level of recursion; the innermost dimension is one run.
void rectangle_runs(const marline_rectangle_t& r, size_t to, size_t from, CopyRun copy, void* data) {
  size_t to_slice = bytes_below(r.to_extents, r), from_slice = bytes_below(r.from_extents, r);
  to += r.to_offsets[0] * to_slice;
  from += r.from_offsets[0] * from_slice;
  if (r.dimensions == 1) return copy(data, to, from, r.volume[0] * r.element);
  marline_rectangle_t inner = {r.element,          r.dimensions - 1, r.volume + 1,      r.to_offsets + 1,
                               r.from_offsets + 1, r.to_extents + 1, r.from_extents + 1};
  for (size_t i = 0; i < r.volume[0]; ++i) {
    rectangle_runs(inner, to + i * to_slice, from + i * from_slice, copy, data);
  }
}

}  // namespace marline
