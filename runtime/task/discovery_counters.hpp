// SPDX-License-Identifier: Apache-2.0
//
// Counts the work of discovering dependences. Each worker has its own counters, which only this worker writes. Any
// thread may read them at any time, so the words are atomic, but an increment is a load and a store.
#pragma once

#include "base/atomic.hpp"

#include <cstdint>

namespace marline {

struct DiscoveryCounters {
  class Count {
   public:
    void add(uint64_t n) { value_.store(value_.load(relaxed) + n, relaxed); }  // owner only
    [[nodiscard]] uint64_t read() const { return value_.load(relaxed); }

   private:
    Atomic<uint64_t> value_{0};
  };

  Count tasks;        // with dependences
  Count dependences;  // of them
  Count edges;        // created
  Count pruned;       // not created: the predecessor had completed
  Count duplicate;    // the task had an edge from that predecessor
  Count transitive;   // another predecessor of the task's comes after that one
  Count nodes;        // without a body, between two sets
  Count lookups;      // in dependence tables
  Count probes;       // of those lookups beyond the first
  Count rebuilds;     // of tables
};

}  // namespace marline
