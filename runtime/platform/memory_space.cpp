// SPDX-License-Identifier: Apache-2.0
//
// Reads memory nodes through hwloc, chooses the nodes of each space, and places memory through the kernel.
#include "platform/memory_space.hpp"

#include <fcntl.h>
#include <hwloc.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>

#include "../common/environment.h"
#include "base/check.hpp"

namespace marline {

using namespace allocators;
namespace {

// linux/mempolicy.h
constexpr int kPreferred = 1, kInterleave = 3, kPreferredMany = 5;

constexpr int kSpaces = kLowLatencySpace + 1;

struct Spaces {
  NodeSet nodes[kSpaces];
  bool this_system = false;
};

Atomic<const Spaces*> g_spaces{nullptr};  // written once under g_memory_spaces_lock; any thread reads

bool is_named(hwloc_obj_t node, const char* name) {
  return node->subtype != nullptr && strcmp(node->subtype, name) == 0;
}

uint64_t attribute(hwloc_topology_t topology, hwloc_memattr_id_t which, hwloc_obj_t node) {
  hwloc_location initiator;
  hwloc_uint64_t value = 0;
  return hwloc_memattr_get_best_initiator(topology, which, node, 0, &initiator, &value) == 0 ? value : 0;
}

void take(hwloc_topology_t topology, MemoryNodes& result) {
  result.this_system = hwloc_topology_is_thissystem(topology) != 0;
  for (hwloc_obj_t node = nullptr;
       (node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)) != nullptr;) {
    if (node->os_index >= NodeSet::kNodes || result.count == NodeSet::kNodes || is_named(node, "GPUMemory")) continue;
    result.nodes[result.count++] = {static_cast<int>(node->os_index), node->attr->numanode.local_memory,
                                    attribute(topology, HWLOC_MEMATTR_ID_BANDWIDTH, node),
                                    attribute(topology, HWLOC_MEMATTR_ID_LATENCY, node),
                                    is_named(node, "HBM") || is_named(node, "MCDRAM")};
  }
}

// The largest value of a property over all nodes.
template <class Of>
uint64_t most(const MemoryNodes& machine, Of of) {
  uint64_t result = 0;
  for (int i = 0; i < machine.count; ++i) result = std::max<uint64_t>(result, of(machine.nodes[i]));
  return result;
}

// Thresholds that separate kinds of memory: HBM has several times the bandwidth of DRAM; persistent or attached memory
// has several times its size and latency. Sockets with different amounts of DRAM are not separated.
bool belongs(const MemoryNode& node, const MemoryNodes& machine, PredefinedSpace space) {
  uint64_t bandwidth = most(machine, [](const MemoryNode& n) { return n.bandwidth; });
  switch (space) {
    case kHighBandwidthSpace: return bandwidth == 0 ? node.fast_by_name : node.bandwidth * 3 >= bandwidth * 2;
    case kLargeCapacitySpace: return node.bytes * 4 > most(machine, [](const MemoryNode& n) { return n.bytes; });
    case kLowLatencySpace: {
      uint64_t least_inverse = most(machine, [](const MemoryNode& n) { return n.latency == 0 ? 0 : ~n.latency; });
      return least_inverse == 0 || (node.latency != 0 && node.latency * 2 <= ~least_inverse * 3);
    }
    default: return true;
  }
}

// Avoids hwloc, which takes milliseconds: most machines have only one node, node 0.
bool has_one_node() {
  if (trusted_variable("HWLOC_XMLFILE") != nullptr || trusted_variable("HWLOC_SYNTHETIC") != nullptr) return false;
  char online[3] = {};
  int file = open("/sys/devices/system/node/online", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  ssize_t length = read(file, online, sizeof online);
  close(file);
  return length == 2 && online[0] == '0' && online[1] == '\n';
}

const Spaces* read_spaces() {
  static Spaces spaces;
  static MemoryNodes machine;
  const char* reason = nullptr;
  if (!has_one_node() && !memory_nodes_read(nullptr, machine, reason)) {
    warn("memory spaces are all of the machine's memory: %s", reason);
  }
  if (machine.count == 0) machine = {{{}}, 1, true};
  for (int space = 0; space < kSpaces; ++space) {
    spaces.nodes[space] = memory_space_among(machine, static_cast<PredefinedSpace>(space));
  }
  spaces.this_system = machine.this_system;
  return &spaces;
}

const Spaces& spaces() {
  const Spaces* known = g_spaces.load(acquire);  // pairs with the release below
  if (known != nullptr) return *known;
  Guard guard(g_memory_spaces_lock);
  known = g_spaces.load(relaxed);
  if (known == nullptr) g_spaces.store(known = read_spaces(), release);
  return *known;
}

bool set_policy(void* pages, size_t bytes, int policy, const NodeSet& nodes) {
  // The kernel uses one bit less than the given number.
  return syscall(SYS_mbind, pages, bytes, policy, nodes.words(), static_cast<unsigned long>(NodeSet::kNodes) + 1, 0) ==
         0;
}

bool prefer_node(void* pages, size_t bytes, int node) {
  NodeSet one;
  one.add(node);
  return set_policy(pages, bytes, kPreferred, one);
}

// Kernels before 5.15 accept only one preferred node.
bool prefer(void* pages, size_t bytes, const NodeSet& space) {
  return set_policy(pages, bytes, kPreferredMany, space) || prefer_node(pages, bytes, space.next(0));
}

// The system call itself: glibc has getcpu since 2.29.
bool place_near(void* pages, size_t bytes, const NodeSet& space) {
  unsigned cpu, node;
  bool known =
      syscall(SYS_getcpu, &cpu, &node, nullptr) == 0 && node < NodeSet::kNodes && space.has(static_cast<int>(node));
  return known ? prefer_node(pages, bytes, static_cast<int>(node)) : prefer(pages, bytes, space);
}

// The same number of pages on each node, plus or minus one, in the nodes' order.
bool place_in_blocks(void* pages, size_t bytes, const NodeSet& space) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const auto nodes = static_cast<size_t>(space.count());
  const size_t total = (bytes + page - 1) / page;
  bool placed = true;
  int node = -1;
  for (size_t i = 0; i < nodes; ++i) {
    node = space.next(node + 1);
    size_t first = total * i / nodes, end = total * (i + 1) / nodes;
    if (first != end)
      placed = prefer_node(static_cast<char*>(pages) + first * page, (end - first) * page, node) && placed;
  }
  return placed;
}

}  // namespace

SpinLock g_memory_spaces_lock;

int NodeSet::count() const {
  int result = 0;
  for (uint64_t word : words_) result += std::popcount(word);
  return result;
}

int NodeSet::next(int from) const {
  while (from < kNodes && !has(from)) ++from;
  return from < kNodes ? from : -1;
}

bool memory_nodes_read(const char* xml_path, MemoryNodes& result, const char*& reason) {
  result.count = 0;
  reason = "hwloc cannot read the machine's description";
  hwloc_topology_t topology;
  if (hwloc_topology_init(&topology) != 0) return false;
  bool read =
      (xml_path == nullptr || hwloc_topology_set_xml(topology, xml_path) == 0) && hwloc_topology_load(topology) == 0;
  if (read) take(topology, result);
  hwloc_topology_destroy(topology);
  return read && result.count > 0;
}

NodeSet memory_space_among(const MemoryNodes& machine, PredefinedSpace space) {
  NodeSet chosen, all;
  for (int i = 0; i < machine.count; ++i) {
    all.add(machine.nodes[i].number);
    if (belongs(machine.nodes[i], machine, space)) chosen.add(machine.nodes[i].number);
  }
  return chosen.count() > 0 ? chosen : all;
}

const NodeSet& memory_space(PredefinedSpace space) { return spaces().nodes[space < kSpaces ? space : kDefaultSpace]; }

bool memory_can_be_placed() { return spaces().this_system && memory_space(kDefaultSpace).count() > 1; }

bool memory_place(void* pages, size_t bytes, const NodeSet& space, uintptr_t partition) {
  switch (partition) {
    case kNearest: return place_near(pages, bytes, space);
    case kBlocked: return place_in_blocks(pages, bytes, space);
    case kInterleaved: return set_policy(pages, bytes, kInterleave, space);
    default: return prefer(pages, bytes, space);
  }
}

}  // namespace marline
