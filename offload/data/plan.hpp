// SPDX-License-Identifier: Apache-2.0
//
// The changes that one construct makes to a device's data environment. A plan is written under the lock: the functions
// change map entries, and list the copies. The copies are made without the lock. Pointers are attached
// after all copies, because compilers also name an attached pointer before the object that it lies in. The plan lies on
// the construct's stack, or with the record of an early-submitted construct.
#pragma once

#include "data/copies.hpp"
#include "data/map_table.hpp"

namespace marline::offload::data {

// A pointer that a construct attaches.
struct AttachLater {
  uintptr_t slot;
  uintptr_t pointee;
  bool always;
  uintptr_t pointer;  // the pointer's value when the program reached the construct; 0: not known
  bool is_readable;   // the pointer can be read on the host: it is not on a stack that may no longer exist
};

struct Slot {
  uint64_t device;
  uint64_t value;
  bool fills;  // see DeviceCopy::fills
};

struct Plan {
  PlannedConstruct construct;
  InFlight in_flight;
  IntrusiveList<MapEntry> entries;  // the map entries that are in flight for this construct
  List<Transfer, 8> copies;
  // Of target update and of early-submitted regions with transient maps; all other constructs only have `copies`.
  List<Transfer, 8> copies_back;
  List<AttachLater, 8> attachments;
  List<Slot, 8> slots;           // to be written after `copies`
  List<MapEntry*, 8> described;  // entries that existed before, and get changed descriptors
  NewBlocks blocks;
  // Of early-submitted constructs:
  List<MapEntry*, 8> filled;  // entries that an enter data or a region creates and fills
  List<MapEntry*, 8> shared;  // entries that concurrent regions also use
  List<uint64_t, 8> sharers;  // the tasks of these regions

  // Maps the items. Adds their pointers to `attachments`; the caller must attach them.
  void add(MapTable& table, const Items& items);
  // Ends the maps of the items. Entries without references are in flight then, and are removed after the copies.
  void subtract(MapTable& table, const Items& items);
  // Plans a target update.
  void update(const MapTable& table, const Items& items);

  // Creates a map entry. Null: the device has no memory for it.
  MapEntry* create(MapTable& table, uintptr_t begin, size_t bytes, uint64_t type);
  // Attaches a pointer if it is mapped.
  void attach(MapTable& table, const AttachLater& one);
  // Plans the copy of an item to the device. A descriptor that is on the device as it is on the host is not copied.
  void copy_item(MapEntry& entry, const Items& items, int32_t i);
  // Plans the copies of the items back to the host. Called after the references of all items have been subtracted: an
  // entry that the construct removes is in flight for it by then.
  void copy_back(const MapTable& table, const Items& items);
  // Marks the map entry as in flight for the construct, which has waited until the entry is not in flight for another
  // one. Only an early-submitted construct may take over an entry in flight, from an enter data that it is ordered
  // after.
  void make_in_flight(MapEntry* entry);
  // Starts to remove the map entry if no references are left.
  void take_last(MapEntry* entry);
  // From now on, other constructs may find the construct's entries in flight, and wait for them.
  void note_in_flight(MapTable& table, bool leaves);

 private:
  MapEntry* find_or_create(MapTable& table, uintptr_t begin, size_t bytes, uint64_t type, bool count);
  void add_item(MapTable& table, const Items& items, int32_t i);
  void drop(MapEntry* entry, uint64_t type);
  [[nodiscard]] bool is_gone(const MapEntry* entry) const;
};

// The size of an item together with its members, which follow it.
[[nodiscard]] size_t bytes_with_members(const Items& items, int32_t i);

// The attachment for an item that has a pointer.
[[nodiscard]] AttachLater attachment_of(const Items& items, int32_t i);

// Whether the item's pointer has the value that it is to get, or gets none.
[[nodiscard]] bool is_attached(const MapTable& table, const Items& items, int32_t i);

// Whether the pointer is to be written although it is attached, because a kernel may have changed it. GCC asks for this
// for each pointer in a Fortran array's descriptor, too. Pointers in descriptors are not written: if a kernel changes
// such a pointer, libgomp keeps the bounds and not the pointer, so no program can rely on either.
[[nodiscard]] inline bool is_wanted_again(uint64_t type) {
  using namespace map_type;
  return (type & (kAttach | kAlways | kDescriptor)) == (kAttach | kAlways);
}

}  // namespace marline::offload::data
