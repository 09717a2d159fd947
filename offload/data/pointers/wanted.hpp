// SPDX-License-Identifier: Apache-2.0
//
// A pointer that a data construct has named together with the section that it points to. `target enter data map(to:
// s.data[0:n])` maps the section and, with GCC and from Clang 22 on, not the pointer s.data itself. Whenever a
// construct makes storage for the structure while the section is mapped, the pointer is attached; else regions would
// find the host's address in it. Guarded by the lock of the Mapping.
#pragma once

#include "base/ranges.hpp"

namespace marline::offload::data {

struct MapEntry;

// The range is the memory of the pointer itself.
struct Wanted : Range {
  MapEntry* of;       // map entry of the section; it owns this record and takes it along when it goes
  Wanted* next;       // next record of the same map entry
  Wanted** link;      // the pointer to this record in that entry's list
  uintptr_t pointee;  // begin of the section
  uintptr_t pointer;  // the pointer's value; while the pointer has another value, it is not attached
};

}  // namespace marline::offload::data
