// SPDX-License-Identifier: Apache-2.0
//
// What is said of a map that overlaps other mapped data (OpenMP 5.2, section 5.8.3).
#include "device/base/place.hpp"
#include "mapping/mapping.hpp"

#include <cstdio>

namespace marline::target {

void Mapping::refuse_overlap(uintptr_t begin, size_t bytes, const Piece& with) const {
  char wants[600], has[600];
  describe_source(source_, "a data construct", wants, sizeof wants);
  if (with.forever) {
    std::snprintf(has, sizeof has, "`declare target` or omp_target_associate_ptr");
  } else {
    describe_source(with.source, "a data construct", has, sizeof has);
  }
  fatal("device %d (%s): %s maps %zu bytes at %#lx, which overlap %zu bytes at %#lx that %s has mapped, and are not inside "
        "them: map the whole first", device_->number, device_->kind->name, wants, bytes, begin, with.end - with.begin,
        with.begin, has);
}

}  // namespace marline::target
