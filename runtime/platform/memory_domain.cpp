// SPDX-License-Identifier: Apache-2.0
//
// Asks the kernel on which nodes pages are.
#include "platform/memory_domain.hpp"

#include <cerrno>
#include <cstring>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/atomic.hpp"
#include "base/check.hpp"

namespace marline {
namespace {

constexpr int kSampled = 16;  // most pages of one piece that are examined
constexpr size_t kRemembered = 1024;
constexpr int kUnknown = -1;

// Written by memory_domains_init, before any reader can know of a second domain.
int domain_count = 1;
bool described = false;
int page_shift = 12;
int16_t domain_of_node[Topology::kNodes];  // with a single domain, all nodes are in it

// page << 8 | domain, 0: none. Any thread; entries are independent.
Atomic<uint64_t> remembered[kRemembered];

// The node of each page, by move_pages. Without target nodes it moves nothing and, unlike get_mempolicy, does not
// allocate a page that has not been touched.
void ask_system(void** pages, int count, int* domains) {
  int status[kSampled] = {};
  static Atomic<int> refused{0};
  if (refused.load(relaxed) != 0 ||
      syscall(SYS_move_pages, 0, static_cast<unsigned long>(count), pages, nullptr, status, 0) != 0) {
    if (refused.exchange(1, relaxed) == 0) {
      warn(
          "the system does not say where memory lies (%s): task affinity has no effect; a container needs leave for "
          "the system call move_pages",
          strerror(errno));
    }
    for (int i = 0; i < count; ++i) domains[i] = kUnknown;
    return;
  }
  for (int i = 0; i < count; ++i) {
    domains[i] = status[i] >= 0 && status[i] < Topology::kNodes ? domain_of_node[status[i]] : kUnknown;
  }
}

Atomic<uint64_t>& place_of(uint64_t page) { return remembered[page % kRemembered]; }

void ask(const uint64_t* pages, int count, int* domains) {
  void* addresses[kSampled];
  for (int i = 0; i < count; ++i) addresses[i] = reinterpret_cast<void*>(pages[i] << page_shift);
  ask_system(addresses, count, domains);
  for (int i = 0; i < count; ++i) {
    if (domains[i] >= 0 && domains[i] < DomainTally::kDomains) {
      place_of(pages[i]).store(pages[i] << 8 | static_cast<uint64_t>(domains[i]), relaxed);
    }
  }
}

void look_up(const uint64_t* pages, int count, int* domains) {
  for (int i = 0; i < count; ++i) {
    if (described) {
      domains[i] = static_cast<int>(pages[i] % static_cast<uint64_t>(domain_count));
      continue;
    }
    const uint64_t entry = place_of(pages[i]).load(relaxed);
    domains[i] = static_cast<int>(entry & 0xff);
    if (entry >> 8 == pages[i]) continue;
    ask(pages + i, count - i, domains + i);
    return;
  }
}

}  // namespace

void memory_domains_init(const Topology& topology) {
  while (1L << page_shift < sysconf(_SC_PAGESIZE)) ++page_shift;
  const int count = topology.level[static_cast<int>(Level::kNumaDomains)].count;
  // Writes nothing if the defaults are right: once threads run, the first write to each page costs up to 25 us.
  if (count == 1 && topology.this_system) return;
  memcpy(domain_of_node, topology.domain_of_node, sizeof domain_of_node);
  described = !topology.this_system;
  domain_count = count;
}

int memory_domain_count() { return domain_count; }

void DomainTally::add(const void* address, size_t bytes) {
  if (bytes == 0) return;
  const auto begin = reinterpret_cast<uintptr_t>(address);
  const uint64_t first = begin >> page_shift;
  const uint64_t count = ((begin + bytes - 1) >> page_shift) - first + 1;
  const int sampled = count < kSampled ? static_cast<int>(count) : kSampled;
  uint64_t pages[kSampled];
  int domains[kSampled];
  for (int i = 0; i < sampled; ++i)
    pages[i] = first + count * static_cast<uint64_t>(i) / static_cast<uint64_t>(sampled);
  look_up(pages, sampled, domains);
  for (int i = 0; i < sampled; ++i) {
    if (domains[i] >= 0 && domains[i] < kDomains) bytes_[domains[i]] += bytes / static_cast<size_t>(sampled) + 1;
  }
}

int DomainTally::most() const {
  int best = kUnknown;
  for (int i = 0; i < kDomains && i < domain_count; ++i) {
    if (bytes_[i] > (best < 0 ? 0 : bytes_[best])) best = i;
  }
  return best;
}

}  // namespace marline
