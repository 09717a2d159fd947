// SPDX-License-Identifier: Apache-2.0
//
// An explicit map that overlaps other mapped data in part
// (OpenMP 5.2, section 5.8.3) is an error. An implicit one is not: the region may use only the parts that are mapped.
// Which parts it uses is not known here.
#include "data/messages.hpp"

#include "base/report.hpp"
#include "device/contract/place.hpp"

#include <atomic>
#include <cstdio>

namespace marline::offload::data {

namespace {

constexpr size_t kText = 600;
constexpr int kMostWarnings = 10;  // per process, so that the output of a program with many structures stays readable

void describe_maker(const MapEntry& entry, char (&to)[kText]) {
  if (entry.counts.is_permanent()) {
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

// There is no warning for one section of an array: programs map the sections that their regions use.
void warn_of_parts(const MapTable& table, const Items& items, int32_t i, MapEntry* first) {
  uintptr_t begin = begin_of(items, i);
  size_t bytes = bytes_of(items, i);
  if (first->contains(begin, begin + bytes) || first->warned_of) return;
  MapEntry* other = first->end < begin + bytes ? table.first_overlap(first->end, begin + bytes - first->end) : nullptr;
  bool lies_apart = other != nullptr && other->on_device(begin) != first->on_device(begin);
  if (!lies_apart && !first->is_of_members) return;
  first->warned_of = true;
  if (!may_warn()) return;
  const Device* device = table.device();
  char wants[kText], has[kText], also[kText];
  describe_source(items.source, "a data construct", wants, sizeof wants);
  describe_maker(*first, has);
  if (!lies_apart) {
    return warn(
        "device %d (%s): %s uses a variable of %zu bytes at %#lx, of which only %zu bytes at %#lx are there, that "
        "%s has mapped: the others have no value in the region; map the whole variable first",
        device->number, device->kind->name, wants, bytes, begin, first->bytes(), first->begin, has);
  }
  describe_maker(*other, also);
  warn(
      "device %d (%s): %s uses a variable of %zu bytes at %#lx, of which %s has mapped %zu bytes at %#lx and %s has "
      "mapped %zu bytes at %#lx: these lie apart on the device, and the region reaches the first ones alone; "
      "map the whole variable first, or name the part in a map clause of the region",
      device->number, device->kind->name, wants, bytes, begin, has, first->bytes(), first->begin, also, other->bytes(),
      other->begin);
}

void refuse_overlap(const Device* device, const Source& source, uintptr_t begin, size_t bytes, const MapEntry& with) {
  char wants[kText], has[kText];
  describe_source(source, "a data construct", wants, sizeof wants);
  describe_maker(with, has);
  fatal(
      "device %d (%s): %s maps %zu bytes at %#lx, which overlap %zu bytes at %#lx that %s has mapped, and are not "
      "inside them: map the whole first",
      device->number, device->kind->name, wants, bytes, begin, with.bytes(), with.begin, has);
}

void refuse_absent(const Device* device, const Source& source, const char* what, uintptr_t begin, size_t bytes) {
  char wants[kText];
  describe_source(source, "a data construct", wants, sizeof wants);
  fatal(
      "device %d (%s): %s: %s with `present` of %zu bytes at %#lx, which are not all mapped there: map them first, "
      "e.g. by "
      "target enter data",
      device->number, device->kind->name, wants, what, bytes, begin);
}

void refuse_outside(const Device* device, const Source& source, uintptr_t begin, const MapEntry& entry) {
  char wants[kText];
  describe_source(source, "target update", wants, sizeof wants);
  fatal(
      "device %d (%s): %s: a section that is not mapped as a whole: %#lx lies outside of the %zu bytes at %#lx that "
      "are mapped",
      device->number, device->kind->name, wants, begin, entry.bytes(), entry.begin);
}

void refuse_for_memory(const Device* device, const Source& source, const char* what, size_t bytes) {
  char wants[kText];
  describe_source(source, "a data construct", wants, sizeof wants);
  fatal("device %d (%s): %s: no memory for %s %zu bytes: map less at a time", device->number, device->kind->name, wants,
        what, bytes);
}

}  // namespace marline::offload::data
