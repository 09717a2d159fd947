// SPDX-License-Identifier: Apache-2.0
//
// Errors and warnings for maps that are not possible. They name the construct. Called with the lock of the data
// environment, except refuse_for_memory.
#pragma once

#include "data/map_table.hpp"

namespace marline::offload::data {

// `first` is the first part of item i of a region, an implicit map, that is mapped. Warns if the region would not find
// the other parts of the variable.
void warn_of_parts(const MapTable& table, const Items& items, int32_t i, MapEntry* first);

[[noreturn]] void refuse_overlap(const Device* device, const Source& source, uintptr_t begin, size_t bytes,
                                 const MapEntry& with);
[[noreturn]] void refuse_absent(const Device* device, const Source& source, const char* what, uintptr_t begin,
                                size_t bytes);
[[noreturn]] void refuse_outside(const Device* device, const Source& source, uintptr_t begin, const MapEntry& entry);
[[noreturn]] void refuse_for_memory(const Device* device, const Source& source, const char* what, size_t bytes);

}  // namespace marline::offload::data
