// SPDX-License-Identifier: Apache-2.0
//
// What one construct is going to do to a device's data environment: written under the environment's lock, carried out
// without it. Lies where its Busy does.
#pragma once

#include "data/mapped_range.hpp"

namespace marline::offload::data {

struct Sent;

struct Slot {
  uint64_t device;
  uint64_t value;
  bool fills;  // as AheadCopy::fills
};

struct AttachLater {
  uintptr_t slot;
  uintptr_t pointee;
  bool always;
  uintptr_t pointer;  // its value when the construct was met; 0: not known
  bool is_readable;   // where it lies on the host is not a stack that may be gone
};

// What a construct that is sent ahead maps and is not there.
struct Absent {
  uintptr_t begin;
  size_t bytes;
  uint64_t type;
};

struct Plan {
  Busy busy;
  Piece* pieces = nullptr;  // those that are busy with it
  Array<Transfer> copies;
  Array<Transfer> copies_back;  // of target update alone: all other constructs copy in one direction
  Array<AttachLater> attachments;
  Array<Slot> slots;                     // to be written behind `copies`
  Array<Piece*> described;               // that were there, and get other descriptors
  bool may_share = false;                // small pieces lie side by side in blocks (storage.cpp); then:
  struct StorageBlock* block = nullptr;  // the newest one,
  uint64_t block_next = 0;               // and where it has room
  // Of constructs that are sent ahead:
  Array<Piece*> filled;        // by an enter data or a region
  Array<Piece*> shared;        // by a region with those that it has no order to
  Array<uint64_t> sharers;     // the tasks of these
  const Sent* sent = nullptr;  // while a construct that is sent ahead is planned
};

}  // namespace marline::offload::data
