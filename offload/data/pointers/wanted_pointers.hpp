// SPDX-License-Identifier: Apache-2.0
//
// Pointers that data constructs have named together with the sections that they point to. `target enter data map(to:
// s.data[0:n])` maps the section and, with GCC and from Clang 22 on, not the pointer s.data itself. Whenever a
// construct makes storage for the structure while the section is mapped, the pointer is attached; else regions would
// find the host's address in it. There is at most one record for a pointer, and it goes together with the section, so
// there are no more records than pointers to mapped data. Guarded by the lock of the data environment.
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

class WantedPointers {
 public:
  // Records that the pointer at `slot`, which has the value `pointer`, points to a section in the map entry.
  void note(uintptr_t slot, uintptr_t pointer, uintptr_t pointee, MapEntry* of);
  // The first recorded pointer in [begin, end), or null.
  [[nodiscard]] const Wanted* first(uintptr_t begin, uintptr_t end) const {
    return begin < end ? static_cast<Wanted*>(all_.first_overlap(begin, end)) : nullptr;
  }
  // Removes the records of pointers into the map entry.
  void forget(const MapEntry* of);

 private:
  void remove(Wanted* wanted);

  Ranges all_;
};

}  // namespace marline::offload::data
