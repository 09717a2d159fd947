// SPDX-License-Identifier: Apache-2.0
//
// A piece of the host's memory that has storage on a device. All pieces of a device are under the lock of its mapping
// (data_environment.hpp), but for what their construct does while they are busy.
#pragma once

#include "base/array.hpp"
#include "items/items.hpp"
#include "base/ranges.hpp"
#include "data/pointers/attachments.hpp"
#include "data/pointers/descriptors.hpp"

#include <cstddef>
#include <cstdint>

namespace marline::offload::data {

using namespace items;

// Addresses on host and device agree modulo this, so every alignment up to it is kept.
inline constexpr uintptr_t kLine = 64;

// Where data of the host lies on the device whenever it is mapped.
struct Place : Range {
  uint64_t address;
};

// A construct that fills or empties pieces, and those who wait for it. On the construct's stack, or with the record of
// one that is sent ahead.
struct Busy {
  struct Waiter* waiters = nullptr;
  size_t bytes = 0;                   // that it moves, for `marline ps`
  bool leaves = false;                // back to the host
  bool is_sent = false;               // ahead (submission_order.hpp); then:
  uint64_t task = 0;                  // its task's number,
  uint64_t operation = kNoOperation;  // and that of its copies on the device; by the thread that hands over

  static constexpr uint64_t kNoOperation = ~uint64_t{0};
};

struct Piece : Range {
  uint64_t address;            // on the device, of `begin`
  uint64_t allocation;         // where its storage begins, in front of `address`; 0: not the mapping's
  struct StorageBlock* block;  // in which that is a part; null: it is an allocation of its own (storage.cpp)
  uint64_t references;
  uint64_t regions;          // those of regions under way, which `delete` leaves: their kernels use the piece
  uint64_t holds;            // those of the hold modifier
  bool forever;              // a declare target variable, or associated: stays when nobody maps it
  bool associated;           // by omp_target_associate_ptr
  bool is_of_members;        // made for members of a structure, so it may be less than the structure
  bool warned_of;            // that it is less than a variable which a region names
  bool empty;                // created by the construct that it is busy with
  uint64_t counted_by;       // number of the construct that changed `references` or `regions` last
  uint64_t held_by;          // the same of `holds`
  Busy* busy;                // or null
  Piece* next;               // of the same Busy
  Array<uint64_t, 1> users;  // tasks of regions that are sent ahead and among `regions`
  Busy own;                  // which a piece is busy with that is there only for regions which are sent ahead
  bool is_off_list;          // it leaves, and a construct that is ordered behind that has mapped its memory anew
  Source source;             // the construct that has made it
  Attachments attachments;   // copies of the piece leave these pointers as they are, on both sides
  Descriptors descriptors;
  struct Wanted* wanted;  // pointers into the piece that are attached when they get storage (wanted.hpp)

  [[nodiscard]] uint64_t on_device(uintptr_t host) const { return address + (host - begin); }
  [[nodiscard]] bool is_of_regions() const { return busy == &own; }
  // No other construct uses it yet, nor what lies between it and others like it in one allocation.
  [[nodiscard]] bool is_filled_now() const { return empty && allocation != 0; }
  [[nodiscard]] uint64_t count() const { return references + regions + holds; }
};

// One copy between host and device.
struct Transfer {
  uint64_t device;
  void* host;
  size_t bytes;
  bool fills = false;  // as AheadCopy::fills
};

}  // namespace marline::offload::data
