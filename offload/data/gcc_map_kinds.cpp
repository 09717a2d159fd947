// SPDX-License-Identifier: Apache-2.0
//
// See the header. What each kind means: GCC, include/gomp-constants.h; what compilers emit was looked at with GCC 12.
#include "data/gcc_map_kinds.hpp"

#include "base/report.hpp"

#include <algorithm>

namespace marline::offload::data {

namespace {

using namespace map_type;

// enum gomp_map_kind
enum : unsigned {
  kGompPointer = 0x04,  // the size is not that of the pointer, but what is to be added to its value
  kGompToPset = 0x05,
  kGompForcePresent = 0x06,
  kGompDelete = 0x07,
  kGompIfPresent = 0x0b,
  kGompFirstprivate = 0x0c,
  kGompFirstprivateInt = 0x0d,
  kGompUseDevicePtr = 0x0e,
  kGompZeroLength = 0x0f,
  kGompUseDevicePtrIfPresent = 0x10,
  kGompRelease = 0x17,
  kGompStruct = 0x1c,
  kGompAlwaysPointer = 0x1d,
  kGompDeleteZeroLength = 0x1f,
  kGompStructUnordered = 0x3c,
  kGompAttach = 0x50,
  kGompDetach = 0x51,
  kGompAttachZeroLength = 0x52,
  kGompForceDetach = 0xd1,
};

constexpr unsigned kKindMask = 0xff;
constexpr unsigned kDirections = 0x03;                     // to 1, from 2
constexpr unsigned kSpecial = 0x0c;                        // without them, a kind is a plain map
constexpr unsigned kGompAlways = 0x10;                     // of plain maps
constexpr unsigned kGompImplicit = 0x60;                   // both bits
constexpr unsigned kGompForce = 0x80;                      // of plain maps
constexpr unsigned kGompPresent = 0x84;                    // from GCC 13 on; with plain directions, and always
constexpr uint64_t kMember = uint64_t{1} << kMemberShift;  // whose member it is does not matter here

struct Element {
  char* address;
  char* original;  // marline_device_maps_t::originals; the address itself where there are none
  size_t size;
  unsigned kind;   // without kGompImplicit
  uint64_t extra;  // kImplicit, kMember, kDescriptor

  Element(const marline_device_maps_t& maps, size_t i)
      : address(static_cast<char*>(maps.addresses[i])),
        original(maps.originals != nullptr ? static_cast<char*>(maps.originals[i]) : address),
        size(maps.sizes[i]),
        kind(maps.kinds[i] & kKindMask),
        extra(0) {
    if ((kind & kGompImplicit) == kGompImplicit) {
      kind &= ~kGompImplicit;
      extra = kImplicit;
    }
  }

  [[nodiscard]] char* pointee() const { return *reinterpret_cast<char**>(address) + size; }
};

bool is_plain(unsigned kind) {
  return (kind & kSpecial) == 0 && (kind & ~(kDirections | kGompAlways | kGompForce)) == 0 &&
         kind != kGompUseDevicePtrIfPresent;
}

bool is_present_map(unsigned kind) {
  return (kind & kGompPresent) == kGompPresent && (kind & ~(kGompPresent | kGompAlways | kDirections)) == 0;
}

uint64_t directions(unsigned kind) {
  return (kind & kDirections) | ((kind & kGompAlways) != 0 ? kAlways : 0) |
         ((kind & kGompPresent) == kGompPresent ? kPresent : 0);
}

bool is_structure(const Element& e) {
  return e.address != nullptr && (e.kind == kGompStruct || e.kind == kGompStructUnordered);
}

// Element i attaches a pointer that an element before it maps.
bool attaches_mapped(const marline_device_maps_t& maps, size_t i) {
  if (i >= maps.count || Element(maps, i).kind != kGompAlwaysPointer || maps.addresses[i] == nullptr) return false;
  return std::find(maps.addresses, maps.addresses + i, maps.addresses[i]) != maps.addresses + i;
}

// The attachment of a component that is a pointer, and what that points to, right before it: they are no members of the
// structure, but with a dummy argument GCC 12 also puts them between the members.
bool stands_between(const marline_device_maps_t& maps, size_t i) {
  if (attaches_mapped(maps, i)) return true;
  return attaches_mapped(maps, i + 1) && Element(maps, i + 1).pointee() == maps.addresses[i];
}

// Behind the members of the structure at element i, and what stands between them.
size_t end_of_members(const marline_device_maps_t& maps, size_t i) {
  size_t left = maps.sizes[i], k = i + 1;
  for (; left != 0 && k < maps.count; ++k) left -= stands_between(maps, k) ? 0 : 1;
  return k;
}

struct Extent {
  char* begin;
  char* end;
};

// Of the members of the structure at element i.
void widen(const marline_device_maps_t& maps, size_t i, Extent& to) {
  for (size_t k = i + 1, behind = end_of_members(maps, i); k < behind; ++k) {
    if (stands_between(maps, k)) continue;
    Element member(maps, k);
    bool is_pointer = member.kind == kGompPointer || member.kind == kGompAttach || member.kind == kGompAlwaysPointer;
    char* end = member.address + (is_pointer ? sizeof(void*) : member.size);
    to.begin = to.begin == nullptr ? member.address : std::min(to.begin, member.address);
    to.end = std::max(to.end, end);
  }
}

// The bytes from the first to the last member are one piece of memory. GCC 12 also gives a structure behind a pointer
// in several elements, one per member: all of them are of one piece, and the first one counts.
void push_structure(const marline_device_maps_t& maps, size_t i, ItemList& to) {
  Extent extent = {};
  bool first = true;
  for (size_t k = 0; k < maps.count; ++k) {
    Element other(maps, k);
    if (!is_structure(other)) continue;
    if (other.address == maps.addresses[i]) {
      widen(maps, k, extent);
      first = first && k >= i;
    }
    k = end_of_members(maps, k) - 1;
  }
  auto bytes = static_cast<size_t>(extent.end - extent.begin);
  to.push(maps.addresses[i], extent.begin, bytes, kParameter | (first ? 0 : kMember));
}

// Of GCC's descriptors: 40 bytes and 24 for each dimension (libgfortran.h).
bool may_be_descriptor(size_t bytes) {
  constexpr size_t kHead = 40, kDimension = 24;
  return bytes > kHead && (bytes - kHead) % kDimension == 0;
}

// The pointer of element i is the first part of a descriptor that another element maps.
bool begins_descriptor(const marline_device_maps_t& maps, size_t i) {
  for (size_t k = 0; k < maps.count; ++k) {
    if (k != i && may_be_descriptor(maps.sizes[k]) && maps.addresses[k] == maps.addresses[i]) return true;
  }
  return false;
}

// Element i is the descriptor of a component, whose pointer another element attaches. GCC 12 and 13 map it like data,
// and for map(from: x%p) and map(alloc: x%p) do not say that it is to be copied. Its bounds are to be those at the
// construct, as with GCC 14, which says so by its kind: the pointer may have got another target while its structure is
// mapped.
bool is_component_descriptor(const marline_device_maps_t& maps, size_t i) {
  if (!may_be_descriptor(maps.sizes[i])) return false;
  for (size_t k = 0; k < maps.count; ++k) {
    if (k != i && maps.addresses[k] == maps.addresses[i] && Element(maps, k).kind == kGompAlwaysPointer) return true;
  }
  return false;
}

// A pointer, or a descriptor, of the region's own.
void push_own(const Element& e, bool in_descriptor, ItemList& to) {
  constexpr uint64_t kBlock = kPrivate | kOwn, kPatch = kPrivate | kOwn | kAttach;
  if (e.kind == kGompToPset) {
    to.push(e.original, e.address, static_cast<int64_t>(e.size), kBlock | kParameter);
  } else {
    if (!in_descriptor) to.push(e.original, e.address, sizeof(void*), kBlock | kParameter);
    to.push(e.original, e.pointee(), static_cast<int64_t>(e.size), in_descriptor ? kPatch | kParameter : kPatch);
  }
}

// Kinds that are neither plain maps nor structures.
void push_special(const Element& e, ItemList& to) {
  switch (e.kind) {
    case kGompPointer:
      to.push(e.address, e.address, sizeof(void*), kTo | kParameter | e.extra);
      to.push(e.address, e.pointee(), 0, kAttach);
      break;
    case kGompAttach:
    case kGompAttachZeroLength: to.push(e.address, e.pointee(), 0, kAttach | kParameter); break;
    case kGompAlwaysPointer:
      to.push(e.address, e.pointee(), 0, kAttach | kAlways | kParameter | (e.extra & kDescriptor));
      break;
    // A Fortran array's descriptor: its bounds are those at the construct, as the array may have been allocated since.
    // It is copied if they have changed.
    case kGompToPset: to.push(e.address, e.address, e.size, kTo | kAlways | kDescriptor | kParameter | e.extra); break;
    case kGompForcePresent: to.push(e.address, e.address, e.size, kPresent | kParameter | e.extra); break;
    case kGompFirstprivate: to.push(e.address, e.address, e.size, kPrivate | kTo | kParameter); break;
    case kGompIfPresent:
    case kGompZeroLength: to.push(e.address, e.address, 0, kParameter | e.extra); break;
    case kGompDelete: to.push(e.address, e.address, e.size, kDelete | kParameter); break;
    case kGompDeleteZeroLength: to.push(e.address, e.address, 0, kDelete | kParameter); break;
    case kGompRelease: to.push(e.address, e.address, e.size, kParameter | e.extra); break;
    case kGompFirstprivateInt:
    case kGompUseDevicePtr:
    case kGompUseDevicePtrIfPresent:
    case kGompDetach:
    case kGompForceDetach: to.push(e.address, e.address, 0, kLiteral | kParameter); break;
    default:
      fatal("GCC's map kind %#x is not known to Marline (GCC 12 to 14): build the program with one of these", e.kind);
  }
}

}  // namespace

Items items_of(ItemList& list) {
  Items all = list.items();
  all.own_bases = true;
  return all;
}

void take_maps(const marline_device_maps_t& maps, Mapping& mapping, ItemList& to) {
  size_t members_end = 0;
  Extent descriptor = {};  // of the Fortran array whose pointer follows
  for (size_t i = 0; i < maps.count; ++i) {
    Element e(maps, i);
    bool is_pointer = e.kind == kGompPointer || e.kind == kGompAlwaysPointer;
    bool in_descriptor = is_pointer && e.original >= descriptor.begin && e.original < descriptor.end;
    bool is_member = i < members_end && !stands_between(maps, i);
    bool comes_along = (!is_member && (e.kind == kGompToPset || e.kind == kGompPointer)) || in_descriptor;
    bool is_shared = comes_along && mapping.is_permanent(e.original);
    if (is_member || in_descriptor) e.extra |= kMember;
    if (e.kind == kGompAlwaysPointer && begins_descriptor(maps, i)) e.extra |= kDescriptor;
    if (e.kind == kGompToPset && comes_along) descriptor = {e.original, e.original + e.size};
    if (is_shared) e.address = e.original;
    if (e.address == nullptr || (comes_along && !is_shared && maps.originals == nullptr)) {
      to.push(nullptr, nullptr, 0, kLiteral | kParameter);
    } else if (comes_along && !is_shared) {
      push_own(e, in_descriptor, to);
    } else if (is_structure(e)) {
      push_structure(maps, i, to);
      members_end = end_of_members(maps, i);
    } else if (is_plain(e.kind) && e.original != e.address) {
      to.push(e.original, e.address, e.size, kPrivate | kOwn | kImplicit | kParameter);
    } else if (is_plain(e.kind) || is_present_map(e.kind)) {
      uint64_t copied = is_component_descriptor(maps, i) ? kTo | kAlways | kDescriptor : 0;
      to.push(e.address, e.address, e.size, directions(e.kind) | copied | kParameter | e.extra);
    } else {
      push_special(e, to);
    }
  }
}

void take_updates(const marline_device_maps_t& maps, ItemList& to) {
  for (size_t i = 0; i < maps.count; ++i) {
    Element e(maps, i);
    bool moves = (is_plain(e.kind) || is_present_map(e.kind)) && (e.kind & kDirections) != 0;
    if (moves && e.address != nullptr) to.push(e.address, e.address, e.size, directions(e.kind));
  }
}

bool is_use_device(unsigned short kind) {
  unsigned low = kind & kKindMask;
  return low == kGompUseDevicePtr || low == kGompUseDevicePtrIfPresent;
}

bool is_attachment(unsigned short kind) {
  unsigned low = kind & kKindMask;
  return low == kGompAttach || low == kGompAttachZeroLength || low == kGompPointer || low == kGompAlwaysPointer;
}

}  // namespace marline::offload::data
