// SPDX-License-Identifier: Apache-2.0
//
// Errors and warnings for maps that are not possible. An explicit map that overlaps other mapped data in part
// (OpenMP 5.2, section 5.8.3) is an error. An implicit one is not: the region may use only the parts that are mapped.
// Which parts it uses is not known here.
#include "base/report.hpp"
#include "device/contract/place.hpp"
#include "data/data_environment.hpp"

#include <atomic>
#include <cstdio>

namespace marline::offload::data {

using namespace device;
using namespace items;

namespace {

constexpr size_t kText = 600;
constexpr int kMostWarnings = 10;  // per process, so that the output of a program with many structures stays readable

void describe_maker(const MapEntry& entry, char (&to)[kText]) {
  if (entry.forever) {
    std::snprintf(to, sizeof to, "`declare target` or omp_target_associate_ptr");
  } else {
    describe_source(entry.source, "a data construct", to, sizeof to);
  }
}

bool may_warn() {
  static std::atomic<int> count{0};
  return count.fetch_add(1, std::memory_order_relaxed) < kMostWarnings;
}

}  // namespace

// The device's address of a kernel's argument; 0: it is not mapped. An implicit map names the whole variable, of which
// only parts may be mapped. Then the kernel gets the address that the variable's begin would have relative to the first
// of these parts, and finds that part where it is in the variable.
uint64_t Mapping::argument_address(const Items& items, int32_t i) {
  auto begin = reinterpret_cast<uintptr_t>(items.begins[i]);
  if (shared_) return begin;
  Guard guard(lock_);
  auto* entry = static_cast<MapEntry*>(entries_.first_overlap(begin, begin + static_cast<size_t>(items.sizes[i])));
  if (entry == nullptr) return 0;
  if ((items.types[i] & map_type::kImplicit) != 0) warn_of_parts(items, i, entry);
  return entry->on_device(begin);
}

// Called with the lock. `first` is the first part of item i that is mapped. There is no warning for one section of an
// array: programs map the sections that their regions use.
void Mapping::warn_of_parts(const Items& items, int32_t i, MapEntry* first) const {
  auto begin = reinterpret_cast<uintptr_t>(items.begins[i]);
  auto bytes = static_cast<size_t>(items.sizes[i]);
  if (first->contains(begin, begin + bytes) || first->warned_of) return;
  auto* other =
      static_cast<MapEntry*>(first->end < begin + bytes ? entries_.first_overlap(first->end, begin + bytes) : nullptr);
  bool lies_apart = other != nullptr && other->on_device(begin) != first->on_device(begin);
  if (!lies_apart && !first->is_of_members) return;
  first->warned_of = true;
  if (!may_warn()) return;
  char wants[kText], has[kText], also[kText];
  describe_source(items.source, "a data construct", wants, sizeof wants);
  describe_maker(*first, has);
  if (!lies_apart) {
    return warn(
        "device %d (%s): %s uses a variable of %zu bytes at %#lx, of which only %zu bytes at %#lx are there, that "
        "%s has mapped: the others have no value in the region; map the whole variable first",
        device_->number, device_->kind->name, wants, bytes, begin, first->end - first->begin, first->begin, has);
  }
  describe_maker(*other, also);
  warn(
      "device %d (%s): %s uses a variable of %zu bytes at %#lx, of which %s has mapped %zu bytes at %#lx and %s has "
      "mapped %zu bytes at %#lx: these lie apart on the device, and the region reaches the first ones alone; "
      "map the whole variable first, or name the part in a map clause of the region",
      device_->number, device_->kind->name, wants, bytes, begin, has, first->end - first->begin, first->begin, also,
      other->end - other->begin, other->begin);
}

void Mapping::refuse_overlap(uintptr_t begin, size_t bytes, const MapEntry& with) const {
  char wants[kText], has[kText];
  describe_source(source_, "a data construct", wants, sizeof wants);
  describe_maker(with, has);
  fatal(
      "device %d (%s): %s maps %zu bytes at %#lx, which overlap %zu bytes at %#lx that %s has mapped, and are not "
      "inside them: map the whole first",
      device_->number, device_->kind->name, wants, bytes, begin, with.end - with.begin, with.begin, has);
}

void Mapping::refuse_absent(const char* what, uintptr_t begin, size_t bytes) const {
  char wants[kText];
  describe_source(source_, "a data construct", wants, sizeof wants);
  fatal(
      "device %d (%s): %s: %s with `present` of %zu bytes at %#lx, which are not all mapped there: map them first, "
      "e.g. by "
      "target enter data",
      device_->number, device_->kind->name, wants, what, bytes, begin);
}

void Mapping::refuse_outside(uintptr_t begin, const MapEntry& entry) const {
  char wants[kText];
  describe_source(source_, "target update", wants, sizeof wants);
  fatal(
      "device %d (%s): %s: a section that is not mapped as a whole: %#lx lies outside of the %zu bytes at %#lx that "
      "are mapped",
      device_->number, device_->kind->name, wants, begin, entry.end - entry.begin, entry.begin);
}

void Mapping::refuse_for_memory(const Source& source, const char* what, size_t bytes) const {
  char wants[kText];
  describe_source(source, "a data construct", wants, sizeof wants);
  fatal("device %d (%s): %s: no memory for %s %zu bytes: map less at a time", device_->number, device_->kind->name,
        wants, what, bytes);
}

}  // namespace marline::offload::data
