// SPDX-License-Identifier: Apache-2.0
//
// The changes that one construct is going to make to a device's data environment. The plan is written under the lock of
// the Mapping and carried out without the lock. It lies on the construct's stack, or with the record of an
// early-submitted construct.
#pragma once

#include "data/mapped_range.hpp"

namespace marline::offload::data {

struct SubmissionOrder;

struct Slot {
  uint64_t device;
  uint64_t value;
  bool fills;  // see DeviceCopy::fills
};

struct AttachLater {
  uintptr_t slot;
  uintptr_t pointee;
  bool always;
  uintptr_t pointer;  // the pointer's value when the program reached the construct; 0: not known
  bool is_readable;   // the pointer can be read on the host: it is not on a stack that may be gone
};

// Bytes that an early-submitted construct maps and that have no map entry.
struct Absent {
  uintptr_t begin;
  size_t bytes;
  uint64_t type;
};

struct Plan {
  InFlight in_flight;
  MapEntry* entries = nullptr;  // the map entries that are in flight for this construct
  List<Transfer, 8> copies;
  // Of target update and of early-submitted regions with transient maps; all other constructs only have `copies`.
  List<Transfer, 8> copies_back;
  List<AttachLater, 8> attachments;
  List<Slot, 8> slots;                   // to be written after `copies`
  List<MapEntry*, 8> described;          // entries that existed before, and get changed descriptors
  bool may_share = false;                // small entries lie side by side in blocks (storage.cpp), with:
  struct StorageBlock* block = nullptr;  // the newest block,
  uint64_t block_next = 0;               // and the device address of its free room
  // Of early-submitted constructs:
  List<MapEntry*, 8> filled;               // entries that an enter data or a region creates and fills
  List<MapEntry*, 8> shared;               // entries that concurrent regions also use
  List<uint64_t, 8> sharers;               // the tasks of these regions
  const SubmissionOrder* order = nullptr;  // set while an early-submitted construct is planned
};

}  // namespace marline::offload::data
