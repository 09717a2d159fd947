// SPDX-License-Identifier: Apache-2.0
//
// The normal form of map clauses: one item for each mapped range of memory, in the form of the arrays that Clang's code
// passes. Map types: LLVM, offload/include/omptarget.h, tgt_map_type.
#pragma once

#include <cstddef>
#include <cstdint>

namespace marline::offload {
struct ReportedConstruct;
}

namespace marline::offload::items {

namespace map_type {
inline constexpr uint64_t kTo = 1, kFrom = 2, kAlways = 4, kDelete = 8;
inline constexpr uint64_t kPointerAndObject = 0x10;  // base: the address of a pointer; begin: what it points to
inline constexpr uint64_t kParameter = 0x20;         // the kernel gets it as an argument
inline constexpr uint64_t kReturn = 0x40;            // use_device_ptr: the base is replaced by the device's address
inline constexpr uint64_t kPrivate = 0x80;           // a private copy on the device
inline constexpr uint64_t kLiteral = 0x100;          // the base is the value itself
inline constexpr uint64_t kImplicit = 0x200, kClose = 0x400, kPresent = 0x1000, kHold = 0x2000;
inline constexpr uint64_t kAttach = 0x4000;  // from Clang 22 on; base: a pointer's address; begin: what it points to
inline constexpr uint64_t kNonContiguous = uint64_t{1} << 44;  // begin: a list of dimensions; size: their number
// Marline's: the descriptor of a Fortran array, or the pointer in it.
inline constexpr uint64_t kDescriptor = uint64_t{1} << 43;
// Marline's, always with kPrivate: memory that a kernel gets with its arguments. begin: its bytes; base: its address in
// the program. With kAttach: a pointer in such memory; base: the pointer's address in the program; begin: what it
// points to. The pointer gets the address in the kernel's own memory if `begin` lies there, or else the device's
// address of `begin` less `size`. With kImplicit: the kernel gets this memory only if the variable is not mapped.
inline constexpr uint64_t kOwn = uint64_t{1} << 42;
// Bits from here on: number, from 1 on, of the item that this one is a member of; 0: none.
inline constexpr int kMemberShift = 48;
}  // namespace map_type

// One dimension in the list of a section that is not contiguous (tgt non-contiguous descriptors), the outermost first;
// strides are in bytes. The meaning of offsets in Clang's code is in abi/clang/sections.cpp, which sets them to 0 and
// the item's base to the section's first element.
struct Dimension {
  uint64_t offset;
  uint64_t count;
  uint64_t stride;
};

// The most entries of a section's list, including the entry for an element. A longer list is not taken for one.
inline constexpr int64_t kMostInList = 65;

// Where a construct is in the source, for messages. All pointers are to data of the program, and may be null: the name
// of a region's kernel, the text of its ident (device/contract/place.hpp), and an address in the code right after the
// construct's call.
struct Source {
  const char* kernel = nullptr;
  const char* place = nullptr;
  const void* code = nullptr;
};

// The map items of a construct. The arrays are the caller's.
struct Items {
  int32_t count = 0;
  void** bases = nullptr;
  void** begins = nullptr;
  const int64_t* sizes = nullptr;
  const uint64_t* types = nullptr;
  void** mappers = nullptr;  // may be null
  bool own_bases = false;    // an item's base is its own begin, even if the program reaches the item through a pointer
  bool of_region = false;    // the construct is a target region, which uses the data until it ends
  ReportedConstruct* reported =
      nullptr;  // the construct's record if a tool listens (base/reported_construct.hpp), else null
  Source source = {};
};

[[nodiscard]] inline bool is_member(uint64_t type) { return type >> map_type::kMemberShift != 0; }

[[nodiscard]] inline uintptr_t begin_of(const Items& items, int32_t i) {
  return reinterpret_cast<uintptr_t>(items.begins[i]);
}
[[nodiscard]] inline uintptr_t base_of(const Items& items, int32_t i) {
  return reinterpret_cast<uintptr_t>(items.bases[i]);
}
[[nodiscard]] inline size_t bytes_of(const Items& items, int32_t i) { return static_cast<size_t>(items.sizes[i]); }

// The data environment has no map entry for such an item.
[[nodiscard]] inline bool has_no_storage(uint64_t type) {
  return (type & (map_type::kLiteral | map_type::kPrivate)) != 0;
}

// Whether the item maps data.
[[nodiscard]] inline bool has_data(uint64_t type) {
  return (type & (map_type::kLiteral | map_type::kPrivate | map_type::kAttach)) == 0;
}
// Whether the item has a pointer that is to be attached; its address is the item's base.
[[nodiscard]] inline bool has_slot(uint64_t type) {
  return !has_no_storage(type) && (type & (map_type::kAttach | map_type::kPointerAndObject)) != 0;
}
// Whether the item maps its pointer, too. The pointer of a member lies in a structure that has an item of its own. A
// pointer that is only to be attached need not be mapped by the construct, and then the construct must not keep it
// mapped.
[[nodiscard]] inline bool maps_slot(uint64_t type) { return has_slot(type) && has_data(type) && !is_member(type); }

// A block of the kernel's own memory (map_type::kOwn), not a pointer in it.
[[nodiscard]] inline bool is_own_block(uint64_t type) {
  return (type & (map_type::kOwn | map_type::kAttach)) == map_type::kOwn;
}

[[nodiscard]] inline bool is_own_unless_mapped(uint64_t type) {
  return is_own_block(type) && (type & map_type::kImplicit) != 0;
}

// A capture of a lambda: a pointer inside the closure. In the closure's copy on the device it gets the device's
// address.
[[nodiscard]] inline bool is_capture(uint64_t type) {
  constexpr uint64_t kAll = map_type::kPointerAndObject | map_type::kLiteral | map_type::kImplicit;
  return (type & kAll) == kAll;
}

}  // namespace marline::offload::items
