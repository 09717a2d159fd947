// SPDX-License-Identifier: Apache-2.0
//
// A map entry: a range of host memory that has storage on a device. The lock of the data environment guards all map
// entries. While an entry is in flight, its construct also works on it without the lock.
#pragma once

#include "base/ranges.hpp"
#include "data/in_flight.hpp"
#include "data/pointers/attachments.hpp"
#include "data/pointers/descriptors.hpp"
#include "data/reference_counts.hpp"

#include <cstddef>
#include <cstdint>

namespace marline::offload::data {

struct MapEntry : Range {
  uint64_t address;            // device address of `begin`
  uint64_t allocation;         // device address where the storage begins, at or before `address`; 0: not allocated here
  struct StorageBlock* block;  // the block that contains the storage; null: it is an allocation of its own
  ReferenceCounts counts;
  bool associated;          // permanent by omp_target_associate_ptr
  bool is_of_members;       // created for members of a structure, so it may not cover the whole structure
  bool warned_of;           // the program was warned that the entry is smaller than a variable that a region names
  bool empty;               // created by the construct that has it in flight, and not filled yet
  bool is_off_list;         // it is being removed, and a construct ordered after the removal has mapped its memory anew
  InFlight* in_flight;      // the construct that has the entry in flight; null: none
  MapEntry* next;           // next entry of the same InFlight
  InFlight own;             // `in_flight` points to it if only early-submitted regions use the entry (transient map)
  Source source;            // the construct that has created the entry
  Attachments attachments;  // attached pointers: copies of the entry's data change them neither on host nor device
  Descriptors descriptors;
  struct Wanted* wanted;  // pointers into the entry that are attached when they get storage (wanted_pointers.hpp)

  [[nodiscard]] uint64_t on_device(uintptr_t host) const { return address + (host - begin); }
  [[nodiscard]] size_t bytes() const { return end - begin; }
  [[nodiscard]] bool is_transient() const { return in_flight == &own; }
  // A construct is removing the entry.
  [[nodiscard]] bool leaves() const { return in_flight != nullptr && in_flight->leaves; }
  // No other construct uses the entry yet, nor the bytes between it and other such entries in one allocation.
  [[nodiscard]] bool is_filled_now() const { return empty && allocation != 0; }
};

}  // namespace marline::offload::data
