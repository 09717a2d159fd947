// SPDX-License-Identifier: Apache-2.0
//
// What a kernel may use of a device's memory, as its construct says (Launch::spans): the storage of each item, and
// device addresses that it gets by value. What lies behind pointers there is the device's to find out.
#include "mapping/mapper.hpp"
#include "mapping/mapping.hpp"

#include <algorithm>

namespace marline::target {

namespace {

using namespace map_type;

// An item without a length, as a pointer that a region uses, stands for the whole piece; so does an implicit one, which
// may know less of the variable than there is.
Span span_of(const Piece& piece, uintptr_t begin, size_t bytes, uint64_t type) {
  uintptr_t end = std::min(begin + bytes, piece.end);
  begin = std::max(begin, piece.begin);
  bool is_written = (type & (kTo | kFrom)) != kTo;
  if (bytes == 0 || (type & kImplicit) != 0 || begin >= end)
    return {piece.address, piece.end - piece.begin, is_written};
  return {piece.on_device(begin), end - begin, is_written};
}

}  // namespace

void Mapping::list_spans(const Items& items, Array<Span, 4>& to) {
  Expansion expansion(items);
  const Items& all = expansion.items();
  Guard guard(lock_);
  for (int32_t i = 0; i < all.count; ++i) {
    uint64_t type = all.types[i];
    auto begin = reinterpret_cast<uintptr_t>(all.begins[i]), base = reinterpret_cast<uintptr_t>(all.bases[i]);
    if ((type & kLiteral) != 0) {
      if ((type & kParameter) != 0) to.push({base, 0});
      continue;
    }
    if ((type & kPrivate) != 0) continue;
    auto bytes = (type & kAttach) != 0 ? size_t{0} : static_cast<size_t>(all.sizes[i]);
    auto* piece = static_cast<Piece*>(pieces_.first_overlap(begin, begin + bytes));
    if (piece != nullptr) {
      to.push(span_of(*piece, begin, bytes, type));
    } else if ((type & kParameter) != 0) {
      to.push({base, 0});  // the kernel gets the pointer's value, which may be a device address
    }
    if ((type & (kPointerAndObject | kAttach)) == 0) continue;
    auto* of_slot = static_cast<Piece*>(pieces_.first_overlap(base, base + sizeof(void*)));
    if (of_slot != nullptr) to.push(span_of(*of_slot, base, sizeof(void*), type));
  }
}

}  // namespace marline::target
