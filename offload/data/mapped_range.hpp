// SPDX-License-Identifier: Apache-2.0
//
// A map entry (MapEntry): a range of host memory that has storage on a device. The lock of a device's Mapping
// (data_environment.hpp) guards all its map entries. While an entry is in flight, its construct also works on it
// without the lock.
#pragma once

#include "base/list.hpp"
#include "items/items.hpp"
#include "base/ranges.hpp"
#include "data/pointers/attachments.hpp"
#include "data/pointers/descriptors.hpp"

#include <cstddef>
#include <cstdint>

namespace marline::offload::data {

using namespace items;

// Addresses of the same data on host and device are equal modulo this number, so every alignment up to it is kept.
inline constexpr uintptr_t kLine = 64;

// A fixed address on the device for a range of host memory: maps of the range use it.
struct Place : Range {
  uint64_t address;
};

// A construct that fills or empties map entries, and the waiters for it. It lies on the construct's stack, or with the
// record of an early-submitted construct.
struct InFlight {
  struct Waiter* waiters = nullptr;
  size_t bytes = 0;                   // that the construct moves, for `marline ps`
  bool leaves = false;                // the construct removes the entries, so data moves back to the host
  bool is_sent = false;               // the construct is submitted early (submission_order.hpp); then it has:
  uint64_t task = 0;                  // the number of its task,
  uint64_t operation = kNoOperation;  // and the operation of its copies on the device, set by the submitting thread

  static constexpr uint64_t kNoOperation = ~uint64_t{0};
};

struct MapEntry : Range {
  uint64_t address;  // device address of `begin`
  // Device address where the storage begins, at or before `address`; 0: not allocated by the Mapping.
  uint64_t allocation;
  // The block that contains the storage; null: it is an allocation of its own (storage.cpp).
  struct StorageBlock* block;
  uint64_t references;
  uint64_t regions;         // references of regions in progress, which `delete` keeps: their kernels use the entry
  uint64_t holds;           // references of maps with the hold modifier
  bool forever;             // permanent: a declare target variable, or associated; stays without references
  bool associated;          // permanent by omp_target_associate_ptr
  bool is_of_members;       // created for members of a structure, so it may not cover the whole structure
  bool warned_of;           // the program has been warned that the entry is less than a variable which a region names
  bool empty;               // created by the construct that has it in flight, and not filled yet
  uint64_t counted_by;      // number of the construct that last changed `references` or `regions`
  uint64_t held_by;         // the same for `holds`
  InFlight* in_flight;      // the construct that has the entry in flight; null: none
  MapEntry* next;           // next entry of the same InFlight
  List<uint64_t, 1> users;  // tasks of the early-submitted regions that `regions` counts
  InFlight own;             // `in_flight` of a transient map: an entry for early-submitted regions only
  bool is_off_list;         // it is being removed, and a construct ordered after the removal has mapped its memory anew
  Source source;            // the construct that has created the entry
  Attachments attachments;  // attached pointers: copies of the entry do not change them, on either side
  Descriptors descriptors;
  struct Wanted* wanted;  // pointers into the entry that are attached when they get storage (wanted.hpp)

  [[nodiscard]] uint64_t on_device(uintptr_t host) const { return address + (host - begin); }
  [[nodiscard]] bool is_of_regions() const { return in_flight == &own; }
  // No other construct uses the entry yet, nor the bytes between it and other such entries in one allocation.
  [[nodiscard]] bool is_filled_now() const { return empty && allocation != 0; }
  [[nodiscard]] uint64_t count() const { return references + regions + holds; }
};

// One copy between host and device.
struct Transfer {
  uint64_t device;
  void* host;
  size_t bytes;
  bool fills = false;  // see DeviceCopy::fills
};

}  // namespace marline::offload::data
