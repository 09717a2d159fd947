// SPDX-License-Identifier: Apache-2.0
//
// Compares a target region, as a construct describes it, with a known region. Used by one thread.
#pragma once

#include "base/list.hpp"
#include "cluster/replay/share.hpp"
#include "device/contract/capture.hpp"
#include "data/pointers/descriptors.hpp"

namespace marline::offload::submission {

using namespace cluster;
using namespace data;
using namespace device;
using namespace items;

struct KnownItem {
  void *base, *begin;
  int64_t size;
  uint64_t type;
  size_t bytes_at;  // of an item of the kernel's own memory (map_type::kOwn): where its bytes begin in own_bytes
};

struct KnownRegion {
  const void* entry;
  int32_t node;
  KernelInvocation invocation;
  int64_t device;       // as the construct gives it
  size_t first, count;  // range of the region's items in the list of known items
};

// Compares a region with the region `known`, and updates the known items.
struct RegionComparison {
  const KnownRegion& known;
  KnownItem* items;                // the items of `known`
  const Descriptors& descriptors;  // descriptors of the Fortran arrays of all known regions
  const List<char>& own_bytes;     // bytes of the items of all known regions that are a kernel's own memory
  List<ChangedWord>& changed;      // changed arguments, counted without a leading null
  bool is_same = false;            // the region is the same but for `changed`

  void compare(const KernelInvocation& invocation, int64_t device, const Items& now);
};

}  // namespace marline::offload::submission
