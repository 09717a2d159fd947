// SPDX-License-Identifier: Apache-2.0
//
// What several regions use of a device's data, as the items of one construct that stands for all of them: an iteration
// of a persistent graph that a device repeats as a whole (submission/replay/graph_iterations.cpp). One owner at a time.
#pragma once

#include "items/item_list.hpp"
#include "cluster/base/list.hpp"
#include "data/data_environment.hpp"

namespace marline::offload::data {

using namespace cluster;
using namespace items;

class UsedData {
 public:
  // Of a region whose data is there (Mapping::begin_present). False: it gets a host address, as nothing is mapped
  // there, which may change.
  [[nodiscard]] bool add(Mapping& mapping, const Items& items);
  // No other region comes: neighbours that are used alike become one item, within one mapped piece.
  void join();
  void clear() {
    ranges_.clear();
    attached_.clear();
    descriptors_.clear();
  }

  // What has been joined.
  void list_items(ItemList& to) const;

 private:
  struct Used {
    uintptr_t piece, begin, end;
    uint64_t type;  // kFrom or nothing: the data goes home with the last construct that uses it
    bool operator<(const Used& other) const;
  };
  struct Attached {
    void *slot, *pointee;
    bool operator<(const Attached& other) const;
  };
  struct Descriptor {
    uintptr_t begin, end;
    bool operator<(const Descriptor& other) const;
  };
  List<Used> ranges_;
  List<Attached> attached_;       // pointers that would be attached if they were mapped
  List<Descriptor> descriptors_;  // of Fortran arrays: they would be copied if the host had others
};

}  // namespace marline::offload::data
