// SPDX-License-Identifier: Apache-2.0
//
// The copies of variables of task reductions that a node's regions work on. A copy begins with the reduction's initial
// value and stays at the node. A region gets a copy that no other region uses at the same time, so a variable has as
// many copies as regions with it have run at the same time: at most one for each thread of the node. At the end of the
// taskgroup the node combines its copies and passes on only the result. Any thread. The lock is not held while bytes
// are copied or combined.
#pragma once

#include "base/lock.hpp"
#include "base/list.hpp"

#include <cstdint>

namespace marline::offload::device {

using Combine = void (*)(void* into, void* from);

class RegionCopies {
 public:
  // Returns a free copy of the variable that the buffer stands for. A new copy gets the bytes of `initial`.
  [[nodiscard]] char* take(uint64_t buffer, const char* initial, uint64_t bytes);
  void give_back(uint64_t buffer, const char* copy);

  // Combines all copies of the variable into `to`, which already has a value, and frees the copies. No region may use a
  // copy meanwhile.
  void combine(uint64_t buffer, Combine function, char* to);

 private:
  struct Copy {
    uint64_t buffer;
    char* memory;
    bool is_taken;
  };

  // Takes a free copy of the variable, or returns null if there is none. `forgets`: also removes it from the list.
  char* take_free(uint64_t buffer, bool forgets);

  Lock lock_;
  // Of reductions of taskgroups that have not ended: a few for each thread.
  List<Copy> copies_;
};

}  // namespace marline::offload::device
