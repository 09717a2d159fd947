// SPDX-License-Identifier: Apache-2.0
//
// Finds the NUMA domain of a piece of memory. The kernel is asked once per page, and a small table keeps the answers.
// The kernel is asked again only when another page has replaced the entry. So if a page moves, the old answer may be
// used for a while: this makes a hint worse, but no result wrong. Any thread.
//
// If hwloc only has a description of the machine (topology.hpp), the kernel cannot be asked: then pages are distributed
// cyclically to the domains, by page number.
#pragma once

#include "platform/topology/topology.hpp"

#include <cstddef>
#include <cstdint>

namespace marline {

// Called once by process_places, before any other call.
void memory_domains_init(const Topology& topology);

// At least 1; 1 until memory_domains_init.
int memory_domain_count();

// Counts how many bytes of several pieces of memory are in each domain. A value.
class DomainTally {
 public:
  static constexpr int kDomains = 255;  // domains with higher numbers are not counted

  // For a long piece, only some of its pages are examined.
  void add(const void* address, size_t bytes);

  // The domain with most of the bytes, as a position in Topology::level[kNumaDomains]; -1: not known.
  [[nodiscard]] int most() const;

 private:
  uint64_t bytes_[kDomains] = {};
};

}  // namespace marline
