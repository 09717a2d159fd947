// SPDX-License-Identifier: Apache-2.0
//
// Collects the data on a device that several regions use, as the items of one construct that represents them all: an
// iteration of a persistent graph that a device replays as a whole (submission/replay/graph_iterations.cpp). One owner
// at a time.
#pragma once

#include "items/item_list.hpp"
#include "base/list.hpp"
#include "data/data_environment.hpp"

#include <compare>

namespace marline::offload::data {

using namespace cluster;
using namespace items;

class UsedData {
 public:
  // Adds the data of a region, all of which is mapped (begin_present). False: the region uses data that is not
  // mapped, so it gets a host address, which may change.
  [[nodiscard]] bool add(DataEnvironment& environment, const Items& items);
  // Called when all regions have been added: ranges of one map entry that overlap or touch and are used alike become
  // one item.
  void join();
  void clear() {
    ranges_.clear();
    attached_.clear();
    descriptors_.clear();
  }

  // Appends the items that `join` has made.
  void list_items(ItemList& to) const;

 private:
  struct Used {
    uintptr_t entry;
    uint64_t type;  // kFrom: the data is copied back to the host with the last construct that uses it; else 0
    uintptr_t begin, end;
    auto operator<=>(const Used&) const = default;
  };
  struct Attached {
    void *slot, *pointee;
    auto operator<=>(const Attached&) const = default;
  };
  struct Descriptor {
    uintptr_t begin, end;
    auto operator<=>(const Descriptor&) const = default;
  };
  List<Used> ranges_;
  List<Attached> attached_;       // pointers that are attached if they are mapped
  List<Descriptor> descriptors_;  // descriptors of Fortran arrays: they are copied if the host's have changed
};

}  // namespace marline::offload::data
