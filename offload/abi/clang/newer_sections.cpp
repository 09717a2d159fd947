// SPDX-License-Identifier: Apache-2.0
//
// Converts lists of dimensions of Clang 23 and later to the older layout. Lists of Clang 19, 22 and 23 were examined.
#include "abi/clang/newer_sections.hpp"

#include "image/images.hpp"

namespace marline::offload::abi {

using namespace image;

namespace {

constexpr int kNewLists = 23;  // the first version of Clang that makes newer lists

bool is_section(const Items& items, int32_t i) {
  bool has_list = items.sizes[i] >= 2 && items.sizes[i] <= kMostInList && items.begins[i] != nullptr;
  return (items.types[i] & map_type::kNonContiguous) != 0 && has_list;
}

const Dimension* list_of(const Items& items, int32_t i) { return static_cast<const Dimension*>(items.begins[i]); }

// Whether a list with this last dimension has the newer layout. For elements of one byte the two layouts look alike, so
// the compiler's version decides.
bool is_newer(const Dimension& last) {
  if (last.offset != 0 || last.stride != 1) return false;
  return last.count > 1 || (last.count == 1 && newest_compiler() >= kNewLists);
}

bool is_newer(const Items& items, int32_t i) {
  return is_section(items, i) && is_newer(list_of(items, i)[items.sizes[i] - 1]);
}

bool any_newer(const Items& items) {
  for (int32_t i = 0; i < items.count; ++i) {
    if (is_newer(items, i)) return true;
  }
  return false;
}

// Dimension k of a newer list of `count` dimensions, in the older layout.
Dimension older(const Dimension* list, int64_t k, int64_t count) {
  const Dimension& given = list[k];
  uint64_t bytes = list[count - 1].count;
  if (k == count - 1) return {0, 1, bytes};
  uint64_t unit = k == count - 2 ? bytes : given.stride;
  return {unit != 0 ? given.offset / unit : 0, given.count, given.stride};
}

}  // namespace

OlderSections::OlderSections(const Items& given) : given_(given.begins) {
  if (!any_newer(given)) return;
  for (int32_t i = 0; i < given.count; ++i) {
    for (int64_t k = 0; is_newer(given, i) && k < given.sizes[i]; ++k) {
      dimensions_.push(older(list_of(given, i), k, given.sizes[i]));
    }
  }
  Dimension* next = dimensions_.begin();
  for (int32_t i = 0; i < given.count; ++i) {
    begins_.push(is_newer(given, i) ? next : given.begins[i]);
    next += is_newer(given, i) ? given.sizes[i] : 0;
  }
}

}  // namespace marline::offload::abi
