// SPDX-License-Identifier: Apache-2.0
//
// Compares a target region, as a construct describes it, with a known region. One owner.
#pragma once

#include "cluster/base/list.hpp"
#include "cluster/replay/share.hpp"
#include "device/contract/capture.hpp"
#include "data/pointers/descriptors.hpp"

namespace marline::offload::submission {

using namespace cluster;
using namespace data;
using namespace device;
using namespace items;

// What a construct says of a region besides its items.
struct RegionForm {
  const Entry* kernel;
  int64_t device;
  int32_t thread_limit, passed_teams;
  bool leading_null, in_memory;
  uint64_t trip_count;
  GpuGrid grid;

  bool operator==(const RegionForm&) const = default;
  void give_to(CapturedTask& task) const {
    task.kernel = kernel;
    task.device = device;
    task.thread_limit = thread_limit;
    task.passed_teams = passed_teams;
    task.leading_null = leading_null;
    task.in_memory = in_memory;
    task.trip_count = trip_count;
    task.grid = grid;
  }
};

struct KnownItem {
  void *base, *begin;
  int64_t size;
  uint64_t type;
  size_t bytes_at;  // for memory of the kernel's own: index of its known bytes in RegionComparison::own_bytes
};

struct KnownRegion {
  const void* entry;
  int32_t node;
  RegionForm form;
  size_t first, count;  // range of the region's items in the list of known items
};

// Compares a region with the region `known`, and updates the known items.
struct RegionComparison {
  const KnownRegion& known;
  KnownItem* items;                // the items of `known`
  const Descriptors& descriptors;  // descriptors of the Fortran arrays of all known regions
  const List<char>& own_bytes;     // of all known regions
  List<ChangedWord>& changed;      // changed arguments, counted without a leading null
  bool is_same = false;            // the region is the same but for `changed`

  void compare(const RegionForm& form, const Items& now);
};

}  // namespace marline::offload::submission
