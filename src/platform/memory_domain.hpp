// SPDX-License-Identifier: Apache-2.0
//
// In which NUMA domain memory lies. The system is asked, page by page, and a small table remembers what it said: a page
// is asked for again only when another one has taken its place in the table, so one that has moved meanwhile is looked
// for where it was. That makes a hint worse, nothing wrong. Any thread.
//
// On a machine that hwloc only has a description of (topology.hpp), nobody can be asked: there pages count as dealt out
// to the domains in turn by their numbers.
#pragma once

#include "platform/topology.hpp"

#include <cstddef>
#include <cstdint>

namespace marline {

// Once, before any other call; by process_places.
void memory_domains_init(const Topology& topology);

// At least 1; 1 until memory_domains_init.
int memory_domain_count();

// Adds up where several pieces of memory lie. A value.
class DomainTally {
 public:
  static constexpr int kDomains = 255;  // those beyond are not counted

  // Of a long piece, some pages stand for all.
  void add(const void* address, size_t bytes);

  // The domain, a position in Topology::level[kNumaDomains], with most of it; -1: nobody knows.
  [[nodiscard]] int most() const;

 private:
  uint64_t bytes_[kDomains] = {};
};

}  // namespace marline
