// SPDX-License-Identifier: Apache-2.0
//
// Converts GCC's map kinds. GCC's include/gomp-constants.h says what each kind means; what compilers emit was examined
// with GCC 12, 14 and 16.
#include "data/gcc_map_kinds.hpp"

#include "base/report.hpp"

#include <algorithm>

namespace marline::offload::data {

namespace {

using namespace map_type;

// Values of enum gomp_map_kind.
enum : unsigned {
  kGompPointer = 0x04,  // the element's size is an offset that is added to the pointer's value
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
constexpr unsigned kDirections = 0x03;    // 1: to, 2: from
constexpr unsigned kSpecial = 0x0c;       // a kind without these bits is a plain map
constexpr unsigned kGompAlways = 0x10;    // of plain maps
constexpr unsigned kGompImplicit = 0x60;  // both bits must be set
constexpr unsigned kGompForce = 0x80;     // of plain maps
constexpr unsigned kGompPresent = 0x84;   // from GCC 13 on; together with directions of plain maps, and kGompAlways
// Marks a member; the number of its structure does not matter here.
constexpr uint64_t kMember = uint64_t{1} << kMemberShift;

struct Element {
  char* address;
  char* original;  // from marline_device_maps_t::originals; `address` if there are none
  size_t size;
  unsigned kind;   // without kGompImplicit
  uint64_t extra;  // further bits of the map type: kImplicit, kMember, kDescriptor

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

// Whether element i attaches a pointer that an earlier element maps.
bool attaches_mapped(const marline_device_maps_t& maps, size_t i) {
  if (i >= maps.count || Element(maps, i).kind != kGompAlwaysPointer || maps.addresses[i] == nullptr) return false;
  return std::find(maps.addresses, maps.addresses + i, maps.addresses[i]) != maps.addresses + i;
}

// Whether element i is the attachment of a pointer component, or the data that this pointer points to, which comes
// right before the attachment. These are not members of the structure, but with a dummy argument GCC 12 also puts them
// between the members.
bool stands_between(const marline_device_maps_t& maps, size_t i) {
  if (attaches_mapped(maps, i)) return true;
  return attaches_mapped(maps, i + 1) && Element(maps, i + 1).pointee() == maps.addresses[i];
}

// The index after the members of the structure at element i, and after the elements between them (stands_between).
size_t end_of_members(const marline_device_maps_t& maps, size_t i) {
  size_t left = maps.sizes[i], k = i + 1;
  for (; left != 0 && k < maps.count; ++k) left -= stands_between(maps, k) ? 0 : 1;
  return k;
}

// Whether element i is a pointer that the construct attaches or detaches, but does not map. GCC 14 and later pass such
// a pointer as a section without elements: at the begin of a data construct as a member of its structure, at the end of
// unstructured data alone. (GCC 12 and 13 do not pass it.) A region of GCC 12 may attach a pointer at the begin of such
// a section, which is no member then.
bool is_unmapped_pointer(const marline_device_maps_t& maps, size_t i, bool is_member) {
  if (Element(maps, i).kind != kGompZeroLength) return false;
  for (size_t k = 0; k < maps.count; ++k) {
    if (maps.addresses[k] != maps.addresses[i]) continue;
    unsigned kind = Element(maps, k).kind;
    bool attaches = kind == kGompAttach || kind == kGompAttachZeroLength;
    if (is_member ? attaches : kind == kGompDetach || kind == kGompForceDetach) return true;
  }
  return false;
}

struct Extent {
  char* begin;
  char* end;
};

// Widens the extent to the members of the structure at element i.
void widen(const marline_device_maps_t& maps, size_t i, Extent& to) {
  for (size_t k = i + 1, after = end_of_members(maps, i); k < after; ++k) {
    if (stands_between(maps, k) || is_unmapped_pointer(maps, k, true)) continue;
    Element member(maps, k);
    bool is_pointer = member.kind == kGompPointer || member.kind == kGompAttach || member.kind == kGompAlwaysPointer;
    char* end = member.address + (is_pointer ? sizeof(void*) : member.size);
    to.begin = to.begin == nullptr ? member.address : std::min(to.begin, member.address);
    to.end = std::max(to.end, end);
  }
}

// The element maps nothing, and adds no reference to what is mapped at its address.
void push_unmapped(const Element& e, ItemList& to) { to.push(e.address, e.address, 0, kLiteral | kParameter); }

// Maps the bytes from the first to the last member as one map entry. GCC 12 may also pass a structure that is reached
// through a pointer in several elements, one per member: all of them belong to one map entry, and only the first one
// counts a reference.
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
  if (extent.begin == nullptr) return push_unmapped(Element(maps, i), to);
  auto bytes = static_cast<size_t>(extent.end - extent.begin);
  to.push(maps.addresses[i], extent.begin, bytes, kParameter | (first ? 0 : kMember));
}

// Whether a descriptor of GCC can have this size: 40 bytes, and 24 for each dimension (libgfortran.h).
bool may_be_descriptor(size_t bytes) {
  constexpr size_t kHead = 40, kDimension = 24;
  return bytes > kHead && (bytes - kHead) % kDimension == 0;
}

// Whether the pointer of element i is the first part of a descriptor that another element maps.
bool begins_descriptor(const marline_device_maps_t& maps, size_t i) {
  for (size_t k = 0; k < maps.count; ++k) {
    if (k != i && may_be_descriptor(maps.sizes[k]) && maps.addresses[k] == maps.addresses[i]) return true;
  }
  return false;
}

// Whether element i is the descriptor of a component, the pointer of which another element attaches. GCC 12 and 13 map
// such a descriptor like data, and for map(from: x%p) and map(alloc: x%p) do not say that it is to be copied. The
// device needs the bounds at the construct, as the pointer may have got another target while its structure is mapped.
// GCC 14 says so by the kind.
bool is_component_descriptor(const marline_device_maps_t& maps, size_t i) {
  if (!may_be_descriptor(maps.sizes[i])) return false;
  for (size_t k = 0; k < maps.count; ++k) {
    if (k != i && maps.addresses[k] == maps.addresses[i] && Element(maps, k).kind == kGompAlwaysPointer) return true;
  }
  return false;
}

// Pushes a pointer or a descriptor as the region's own memory.
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
    // A Fortran array's descriptor. The device needs the bounds at the construct, as the array may have been allocated
    // since the last copy. The descriptor is copied if it has changed.
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
    case kGompForceDetach: push_unmapped(e, to); break;
    default:
      fatal("GCC's map kind %#x is not known to Marline (GCC 12 to 16): build the program with one of these", e.kind);
  }
}

}  // namespace

Items items_of(ItemList& list) {
  Items all = list.items();
  all.own_bases = true;
  return all;
}

void take_maps(const marline_device_maps_t& maps, DataEnvironment& environment, ItemList& to) {
  size_t members_end = 0;
  Extent descriptor = {};  // of the latest Fortran array; its pointer follows
  for (size_t i = 0; i < maps.count; ++i) {
    Element e(maps, i);
    bool is_pointer = e.kind == kGompPointer || e.kind == kGompAlwaysPointer;
    bool in_descriptor = is_pointer && e.original >= descriptor.begin && e.original < descriptor.end;
    bool is_member = i < members_end && !stands_between(maps, i);
    bool comes_along = (!is_member && (e.kind == kGompToPset || e.kind == kGompPointer)) || in_descriptor;
    bool is_shared = comes_along && environment.is_permanent(e.original);
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
    } else if (is_unmapped_pointer(maps, i, is_member)) {
      push_unmapped(e, to);
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
