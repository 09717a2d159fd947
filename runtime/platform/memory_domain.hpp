// SPDX-License-Identifier: Apache-2.0
//
// Finds the NUMA domain of a piece of memory. The kernel is asked once for each page, and a small table remembers the
// answers. The kernel is asked again only when another page has taken the entry. So if a page moves, the old answer may
// be used for a while: a hint gets worse, but no result gets wrong. Any thread.
//
// If hwloc only has a description of the machine (topology.hpp), the kernel cannot be asked: then pages belong to the
// domains in turn, by page number.
#pragma once

#include "platform/topology/topology.hpp"

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
