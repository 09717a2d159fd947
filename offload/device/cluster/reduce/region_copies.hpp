// SPDX-License-Identifier: Apache-2.0
//
// What a node's regions have of variables of task reductions: copies that begin with the reduction's initial value and
// stay at the node. A region gets one that no other region has meanwhile, so there are as many as have run at a time,
// at most one for each of the node's threads. At the end of the taskgroup they are combined here, and only the result
// goes on. Any thread; the lock is not held while bytes are copied or combined.
#pragma once

#include "base/lock.hpp"
#include "cluster/base/list.hpp"

#include <cstdint>

namespace marline::offload::device {

using namespace cluster;

using Combine = void (*)(void* into, void* from);

class RegionCopies {
 public:
  // Of the variable that the buffer stands for; a new one gets the bytes of `initial`.
  [[nodiscard]] char* take(uint64_t buffer, const char* initial, uint64_t bytes);
  void give_back(uint64_t buffer, const char* copy);

  // Into `to`, besides what is there: all copies of the buffer, which are gone then. None is taken.
  void combine(uint64_t buffer, Combine function, char* to);

 private:
  struct Copy {
    uint64_t buffer;
    char* memory;
    bool is_taken;
  };

  // The next one of the buffer that is free, or null.
  char* take_free(uint64_t buffer, bool forgets);

  Lock lock_;
  List<Copy> copies_;  // of open taskgroups' reductions: a few for each thread
};

}  // namespace marline::offload::device
