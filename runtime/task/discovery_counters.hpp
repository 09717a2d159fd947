// SPDX-License-Identifier: Apache-2.0
//
// Counts the work of discovering dependences. Each worker has its own counters, which only this worker writes. Any
// thread may read them at any time, so the words are atomic; an increment is a load and a store.
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

  Count tasks;        // tasks with dependences
  Count dependences;  // dependences of these tasks
  Count edges;        // edges made
  Count pruned;       // edges not made: the predecessor had completed
  Count duplicate;    // edges not made: the task had an edge from that predecessor
  Count transitive;   // edges not made: another predecessor of the task is a successor of this one
  Count nodes;        // nodes without a body, between two sets
  Count lookups;      // lookups in dependence tables
  Count probes;       // probes of these lookups after the first
  Count rebuilds;     // rebuilds of tables
};

}  // namespace marline
