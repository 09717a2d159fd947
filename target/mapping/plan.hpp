// SPDX-License-Identifier: Apache-2.0
//
// What one construct is going to do to a device's data environment: written under the environment's lock, carried out
// without it. On the construct's stack.
#pragma once

#include "mapping/piece.hpp"

namespace marline::target {

struct Slot {
  uint64_t device;
  uint64_t value;
};

struct AttachLater {
  uintptr_t slot;
  uintptr_t pointee;
  bool always;
  uintptr_t pointer;  // its value when the construct was met; 0: not known
};

struct Plan {
  Busy busy;
  Piece* pieces = nullptr;  // those that are busy with it
  Array<Transfer> copies;
  Array<Transfer> copies_back;  // of target update alone: all other constructs copy in one direction
  Array<AttachLater> attachments;
  Array<Slot> slots;
};

}  // namespace marline::target
