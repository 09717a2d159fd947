// SPDX-License-Identifier: Apache-2.0
//
// A pointer that a data construct has named with a section behind it. `target enter data map(to: s.data[0:n])` maps the
// section and, with GCC and from Clang 22 on, not s.data itself. Whenever a construct makes storage for the structure,
// the pointer is attached as long as the section is mapped; else regions would find the host's address in it. Under the
// lock of its mapping.
#pragma once

#include "base/ranges.hpp"

namespace marline::offload::data {

struct Piece;

// The range is that of the pointer.
struct Wanted : Range {
  Piece* of;          // in which the section lies; it owns the record, and takes it along
  Wanted* next;       // of the same piece
  Wanted** link;      // what has the record's address in the list of that piece
  uintptr_t pointee;  // the section's begin
  uintptr_t pointer;  // the pointer's value: when it has another one, it is not attached
};

}  // namespace marline::offload::data
