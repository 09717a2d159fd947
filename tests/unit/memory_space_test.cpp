// SPDX-License-Identifier: Apache-2.0
//
// platform/memory_space.hpp: which memory nodes each space of OpenMP has, on machines that are made up with hwloc:
// plain ones, with high-bandwidth memory, with persistent memory; and that memory can be put where it belongs.
#include "platform/memory_space.hpp"

#include <gtest/gtest.h>
#include <hwloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace marline {
namespace {

using namespace allocators;

struct Kind {
  uint64_t bandwidth;
  uint64_t latency;
  const char* subtype;
};

// The memory nodes of a synthetic machine, by way of an XML export; node i is of kinds[i % size].
MemoryNodes machine(const char* synthetic, const std::vector<Kind>& kinds) {
  hwloc_topology_t topology;
  hwloc_topology_init(&topology);
  hwloc_topology_set_synthetic(topology, synthetic);
  EXPECT_EQ(hwloc_topology_load(topology), 0);
  hwloc_obj_t node = nullptr;
  for (size_t i = 0; (node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)) != nullptr; ++i) {
    const Kind& kind = kinds[i % kinds.size()];
    hwloc_location from;
    from.type = HWLOC_LOCATION_TYPE_CPUSET;
    from.location.cpuset = node->cpuset;
    if (kind.bandwidth != 0) {
      hwloc_memattr_set_value(topology, HWLOC_MEMATTR_ID_BANDWIDTH, node, &from, 0, kind.bandwidth);
      hwloc_memattr_set_value(topology, HWLOC_MEMATTR_ID_LATENCY, node, &from, 0, kind.latency);
    }
    if (kind.subtype != nullptr) node->subtype = strdup(kind.subtype);
  }
  std::string path = testing::TempDir() + "/memory_space_" + std::to_string(getpid()) + ".xml";
  EXPECT_EQ(hwloc_topology_export_xml(topology, path.c_str(), 0), 0);
  hwloc_topology_destroy(topology);
  MemoryNodes result{};
  const char* reason = nullptr;
  EXPECT_TRUE(memory_nodes_read(path.c_str(), result, reason)) << reason;
  remove(path.c_str());
  return result;
}

// The nodes of a space, as "0 2".
std::string nodes_of(const MemoryNodes& machine, PredefinedSpace space) {
  const NodeSet nodes = memory_space_among(machine, space);
  std::string text;
  for (int node = nodes.next(0); node >= 0; node = nodes.next(node + 1)) {
    text += (text.empty() ? "" : " ") + std::to_string(node);
  }
  return text;
}

TEST(MemorySpace, EverySpaceOfAPlainMachineIsAllOfIt) {
  const MemoryNodes plain = machine("pack:2 [numa(memory=64GB)] core:2 pu:1", {{0, 0, nullptr}});
  const MemoryNodes measured = machine("pack:2 [numa(memory=64GB)] core:2 pu:1", {{200'000, 90, nullptr}});
  for (uintptr_t space = kDefaultSpace; space <= kLowLatencySpace; ++space) {
    EXPECT_EQ(nodes_of(plain, static_cast<PredefinedSpace>(space)), "0 1");
    EXPECT_EQ(nodes_of(measured, static_cast<PredefinedSpace>(space)), "0 1");
  }
  EXPECT_FALSE(plain.this_system);
}

TEST(MemorySpace, HighBandwidthMemoryIsTheFastNotTheLarge) {
  const MemoryNodes xeon = machine("pack:2 [numa(memory=256GB)] [numa(memory=64GB)] core:2 pu:1",
                                   {{150'000, 110, nullptr}, {500'000, 130, nullptr}});
  EXPECT_EQ(nodes_of(xeon, kDefaultSpace), "0 1 2 3");
  EXPECT_EQ(nodes_of(xeon, kHighBandwidthSpace), "1 3");
  EXPECT_EQ(nodes_of(xeon, kLargeCapacitySpace), "0 2");
  EXPECT_EQ(nodes_of(xeon, kLowLatencySpace), "0 1 2 3");
  EXPECT_EQ(nodes_of(xeon, kConstantSpace), "0 1 2 3");
}

TEST(MemorySpace, WithoutFiguresTheNameTells) {
  const MemoryNodes phi =
      machine("pack:1 [numa(memory=96GB)] [numa(memory=16GB)] core:2 pu:1", {{0, 0, nullptr}, {0, 0, "MCDRAM"}});
  EXPECT_EQ(nodes_of(phi, kHighBandwidthSpace), "1");
  EXPECT_EQ(nodes_of(phi, kLargeCapacitySpace), "0");
  EXPECT_EQ(nodes_of(phi, kLowLatencySpace), "0 1");
}

TEST(MemorySpace, PersistentMemoryIsLargeAndSlow) {
  const MemoryNodes optane = machine("pack:2 [numa(memory=64GB)] [numa(memory=512GB)] core:2 pu:1",
                                     {{130'000, 80, nullptr}, {30'000, 320, nullptr}});
  EXPECT_EQ(nodes_of(optane, kHighBandwidthSpace), "0 2");
  EXPECT_EQ(nodes_of(optane, kLargeCapacitySpace), "1 3");
  EXPECT_EQ(nodes_of(optane, kLowLatencySpace), "0 2");
}

TEST(MemorySpace, MemoryOfAGpuIsInNone) {
  const MemoryNodes hopper =
      machine("pack:1 [numa(memory=480GB)] [numa(memory=96GB)] core:2 pu:1", {{0, 0, nullptr}, {0, 0, "GPUMemory"}});
  EXPECT_EQ(nodes_of(hopper, kDefaultSpace), "0");
  EXPECT_EQ(nodes_of(hopper, kHighBandwidthSpace), "0");
}

TEST(MemorySpace, SocketsFittedDifferentlyAreBothLarge) {
  const MemoryNodes uneven = machine("pack:2 [numa(memory=64GB)] core:2 pu:1", {{0, 0, nullptr}});
  MemoryNodes halved = uneven;
  halved.nodes[1].bytes /= 2;
  EXPECT_EQ(nodes_of(halved, kLargeCapacitySpace), "0 1");
}

TEST(MemorySpace, SetsOfNodes) {
  NodeSet set;
  EXPECT_EQ(set.next(0), -1);
  for (int node : {3, 64, 255}) set.add(node);
  EXPECT_EQ(set.count(), 3);
  EXPECT_EQ(set.next(0), 3);
  EXPECT_EQ(set.next(4), 64);
  EXPECT_EQ(set.next(65), 255);
  EXPECT_EQ(set.next(256), -1);
}

TEST(MemorySpace, AnUnreadableDescriptionHasAReason) {
  MemoryNodes result{};
  const char* reason = nullptr;
  EXPECT_FALSE(memory_nodes_read("/nowhere/machine.xml", result, reason));
  EXPECT_NE(reason, nullptr);
}

// Only if the system allows it, which containers may forbid; node 0 exists.
TEST(MemorySpace, PagesArePlaced) {
  const NodeSet& here = memory_space(kDefaultSpace);
  ASSERT_GE(here.count(), 1);
  const size_t bytes = 64 * static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (!memory_place(pages, bytes, here, kEnvironment)) GTEST_SKIP() << "mbind is refused here";
  for (uintptr_t partition : {kNearest, kBlocked, kInterleaved}) {
    EXPECT_TRUE(memory_place(pages, bytes, here, partition)) << partition;
  }
  NodeSet nowhere;
  nowhere.add(NodeSet::kNodes - 1);
  EXPECT_FALSE(memory_place(pages, bytes, nowhere, kInterleaved));
  memset(pages, 1, bytes);
  munmap(pages, bytes);
}

}  // namespace
}  // namespace marline
