// SPDX-License-Identifier: Apache-2.0
//
// The normal form of what map clauses say: one item per mapped piece, as Clang's arrays give them. Map types: LLVM,
// offload/include/omptarget.h, tgt_map_type.
#pragma once

#include <cstdint>

namespace marline::offload {
struct Told;
}

namespace marline::offload::items {

namespace map_type {
inline constexpr uint64_t kTo = 1, kFrom = 2, kAlways = 4, kDelete = 8;
inline constexpr uint64_t kPointerAndObject = 0x10;  // base: the address of a pointer; begin: what it points to
inline constexpr uint64_t kParameter = 0x20;         // the kernel gets it as an argument
inline constexpr uint64_t kReturn = 0x40;            // use_device_ptr: the base becomes the device's
inline constexpr uint64_t kPrivate = 0x80;           // a private copy on the device
inline constexpr uint64_t kLiteral = 0x100;          // the base is the value itself
inline constexpr uint64_t kImplicit = 0x200, kClose = 0x400, kPresent = 0x1000, kHold = 0x2000;
inline constexpr uint64_t kAttach = 0x4000;  // from 22 on: base: a pointer's address; begin: what it points to
inline constexpr uint64_t kNonContiguous = uint64_t{1} << 44;  // begin: a list of dimensions; size: their number
inline constexpr uint64_t kDescriptor = uint64_t{1} << 43;     // Marline's: a Fortran array's, or its pointer
// Marline's, always with kPrivate: memory that a kernel gets with its arguments. begin: its bytes; base: where the
// program has them. With kAttach: a pointer in such memory, which is at `base` in the program; it gets the device's
// address of `begin` less `size`, as the device has it, or that of the kernel's own memory. With kImplicit: unless it
// is mapped.
inline constexpr uint64_t kOwn = uint64_t{1} << 42;
inline constexpr int kMemberShift = 48;  // of the item, from 1 on, that this one is a member of; 0: none
}  // namespace map_type

// One entry per dimension, outermost first (tgt non-contiguous descriptors); strides are bytes. What Clang's code means
// by offsets is in abi/clang/sections.cpp; from there on they are 0, and the item's base is the section's first
// element.
struct Dimension {
  uint64_t offset;
  uint64_t count;
  uint64_t stride;
};

// Of a section's list, with that of an element; a longer one is none.
inline constexpr int64_t kMostInList = 65;

// Where a construct stands, for messages. All are the program's, and may be null: the name of a region's kernel, the
// ident's text (device/contract/place.hpp), and an address in the code behind the construct's call.
struct Source {
  const char* kernel = nullptr;
  const char* place = nullptr;
  const void* code = nullptr;
};

// The caller's arrays.
struct Items {
  int32_t count = 0;
  void** bases = nullptr;
  void** begins = nullptr;
  const int64_t* sizes = nullptr;
  const uint64_t* types = nullptr;
  void** mappers = nullptr;  // or null
  bool own_bases = false;    // a base is the item's own begin also where the item lies behind a pointer
  bool of_region = false;    // of a target region, which uses the data until its end
  Told* told = nullptr;      // the construct, if a tool listens (told.hpp)
  Source source = {};
};

[[nodiscard]] inline bool is_member(uint64_t type) { return type >> map_type::kMemberShift != 0; }

// Not among what the data environment keeps.
[[nodiscard]] inline bool has_no_storage(uint64_t type) {
  return (type & (map_type::kLiteral | map_type::kPrivate)) != 0;
}

// Memory of the kernel's own (map_type::kOwn), not a pointer in it.
[[nodiscard]] inline bool is_own_block(uint64_t type) {
  return (type & (map_type::kOwn | map_type::kAttach)) == map_type::kOwn;
}

[[nodiscard]] inline bool is_own_unless_mapped(uint64_t type) {
  return is_own_block(type) && (type & map_type::kImplicit) != 0;
}

// A capture of a lambda: a slot inside the closure, whose copy on the device gets the device's address.
[[nodiscard]] inline bool is_capture(uint64_t type) {
  constexpr uint64_t kAll = map_type::kPointerAndObject | map_type::kLiteral | map_type::kImplicit;
  return (type & kAll) == kAll;
}

}  // namespace marline::offload::items
