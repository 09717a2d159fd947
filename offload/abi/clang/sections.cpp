// SPDX-License-Identifier: Apache-2.0
//
// Finds where a section that is not contiguous lies. What the compilers pass was examined with Clang 14, 16, 19 and 22.
// The begin of such a section's item is not an address of data, but points to a list of the section's dimensions
// (Dimension: offset, count, stride). The list ends with {0, 1, bytes of an element}.
//
// Clang 22: for a section in a member of a structure, the base is that of the structure, and the offsets do not include
// the member's offset in the structure. But the item of the structure, which comes earlier, begins at the first element
// of its lowest member and ends after the first element of its highest member, so it says where one section lies.
// Before 22: if a structure has members in the construct, the pointer to the list of each later section is stored in
// the item before the section's own item, where it overwrites the begin. Then the section's own item has no list, or
// the list of the next section.
#include "abi/clang/sections.hpp"

#include "base/report.hpp"
#include "device/contract/place.hpp"

#include <cstdint>

namespace marline::offload::abi {

using namespace device;

namespace {

using namespace map_type;

uintptr_t address_of(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); }

bool is_section(const Items& items, int32_t i) { return (items.types[i] & kNonContiguous) != 0; }

bool has_section(const Items& items) {
  for (int32_t i = 0; i < items.count; ++i) {
    if (is_section(items, i)) return true;
  }
  return false;
}

const Dimension* shape_of(const Items& items, int32_t i) { return static_cast<const Dimension*>(items.begins[i]); }

// Whether item i has a list of dimensions. The size of such an item is the number of dimensions, and its begin points
// to the list. An item without a list may have any size, and its begin may point to other data. So the data there is
// checked, too.
bool has_shape(const Items& items, int32_t i) {
  int64_t last = items.sizes[i] - 1;
  if (last < 1 || items.sizes[i] > kMostInList || items.begins[i] == nullptr) return false;
  const Dimension* list = shape_of(items, i);
  uint64_t element = list[last].stride;
  if (list[last].offset != 0 || list[last].count != 1 || element == 0) return false;
  for (int64_t k = 0; k < last; ++k) {
    if (list[k].stride % element != 0 || list[k].stride < list[k + 1].stride) return false;
  }
  return true;
}

// The index of the item of the structure that item i is a member of; -1: none.
int32_t structure_of(const Items& items, int32_t i) {
  int64_t place = static_cast<int64_t>(items.types[i] >> kMemberShift) - 1;
  return place < i && (place < 0 || !is_member(items.types[place])) ? static_cast<int32_t>(place) : -1;
}

// The addresses of a member that is not a section.
struct Member {
  uintptr_t begin, end;
};

Member member_at(const Items& items, int32_t i) {
  bool is_pointer = (items.types[i] & kPointerAndObject) != 0;
  uintptr_t begin = address_of(is_pointer ? items.bases[i] : items.begins[i]);
  return {begin, begin + (is_pointer ? sizeof(void*) : static_cast<size_t>(items.sizes[i]))};
}

// Whether the begin of item i, a member, has been overwritten: the member then does not lie in its structure.
bool is_overwritten(const Items& items, int32_t i) {
  int32_t whole = structure_of(items, i);
  if (whole < 0 || (items.types[i] & kAttach) != 0) return false;
  Member member = member_at(items, i), structure = member_at(items, whole);
  return member.begin < structure.begin || member.end > structure.end;
}

void check(const Items& items) {
  for (int32_t i = 0; i < items.count; ++i) {
    if (is_section(items, i) ? has_shape(items, i) : !is_overwritten(items, i)) continue;
    char where[600];
    describe_source(items.source, "target update", where, sizeof where);
    fatal(
        "%s: a section that is not contiguous, in a member of a structure or beside one: the code of Clang before 22 "
        "does not say where it lies; update each of its rows, or use a pointer to the member",
        where);
  }
}

// The distance of the section's first element from its base. The offset of the innermost dimension counts elements; the
// offsets of the other dimensions count their own strides.
uintptr_t bytes_before(const Dimension* list, int64_t dimensions) {
  uintptr_t bytes = 0;
  for (int64_t k = 0; k < dimensions; ++k) bytes += list[k].offset * list[k + 2 == dimensions ? k + 1 : k].stride;
  return bytes;
}

// Finds the address of the first element of section i, a member of the structure `whole`, by the extent of the
// structure's item. 0: the extent does not show the address, because other members lie at both ends of the extent, or
// because the structure has other sections.
uintptr_t first_of_member(const Items& items, int32_t i, int32_t whole) {
  Member structure = member_at(items, whole);
  bool is_lowest = true, is_highest = true;
  for (int32_t k = 0; k < items.count; ++k) {
    if (k == i || (items.types[k] & kAttach) != 0 || structure_of(items, k) != whole) continue;
    if (is_section(items, k)) return 0;
    Member other = member_at(items, k);
    is_lowest = is_lowest && other.begin != structure.begin;
    is_highest = is_highest && other.end != structure.end;
  }
  if (is_lowest) return structure.begin;
  return is_highest ? structure.end - shape_of(items, i)[items.sizes[i] - 1].stride : 0;
}

uintptr_t first_of(const Items& items, int32_t i) {
  int32_t whole = structure_of(items, i);
  bool has_own_base = whole < 0 || items.bases[i] != items.bases[whole];
  if (has_own_base) return address_of(items.bases[i]) + bytes_before(shape_of(items, i), items.sizes[i]);
  uintptr_t first = first_of_member(items, i, whole);
  if (first != 0) return first;
  char where[600];
  describe_source(items.source, "target update", where, sizeof where);
  fatal(
      "%s: several members of a structure, among them a section that is not contiguous: Clang's code does not say "
      "where it lies; give it an update of its own",
      where);
}

}  // namespace

ExactSections::ExactSections(const Items& given) : items_(given) {
  if (!has_section(given)) return;
  check(given);
  for (int32_t i = 0; i < given.count; ++i) {
    bool is_exact = !is_section(given, i);
    bases_.push(is_exact ? given.bases[i] : reinterpret_cast<void*>(first_of(given, i)));
    sizes_.push(is_exact ? given.sizes[i] : take_shape(shape_of(given, i), given.sizes[i]));
  }
  Dimension* next = dimensions_.begin();
  for (int32_t i = 0; i < given.count; ++i) {
    begins_.push(is_section(given, i) ? next : given.begins[i]);
    next += is_section(given, i) ? sizes_[static_cast<uint32_t>(i)] : 0;
  }
  items_.bases = bases_.begin();
  items_.begins = begins_.begin();
  items_.sizes = sizes_.begin();
}

// Drops the dimension of an element after an innermost dimension of the same stride: with it, libomptarget 19 copies
// only the first element.
int64_t ExactSections::take_shape(const Dimension* list, int64_t dimensions) {
  if (list[dimensions - 2].stride == list[dimensions - 1].stride) --dimensions;
  for (int64_t k = 0; k < dimensions; ++k) dimensions_.push({0, list[k].count, list[k].stride});
  return dimensions;
}

}  // namespace marline::offload::abi
