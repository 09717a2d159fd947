// SPDX-License-Identifier: Apache-2.0
//
// platform/topology/topology.hpp: what hwloc's descriptions of several machines become, and this machine.
#include "platform/topology/topology_read.hpp"

#include <gtest/gtest.h>

#include <string>

#include "../common/text.hpp"
#include "platform/topology/places.hpp"
#include "platform/thread.hpp"

namespace marline {
namespace {

std::string as_text(const MaskList& list) {
  char buffer[1024];
  Text text(buffer, sizeof buffer);
  for (int i = 0; i < list.count; ++i) {
    text.add("%s", i == 0 ? "" : "|");
    show_cpus(text, list.masks[i]);
  }
  return text.c_str();
}

struct Golden {
  const char* synthetic;
  const char* levels[kLevels];  // threads, cores, last-level caches, NUMA domains, sockets
};

const Golden kMachines[] = {
    {"pack:2 numa:1 l3:1 core:2 pu:2", {"0|1|2|3|4|5|6|7", "0-1|2-3|4-5|6-7", "0-3|4-7", "0-3|4-7", "0-3|4-7"}},
    // Four memory domains in two packages, two last-level caches in each domain.
    {"pack:2 numa:2 l3:2 core:2 pu:1",
     {"0|1|2|3|4|5|6|7|8|9|10|11|12|13|14|15", "0|1|2|3|4|5|6|7|8|9|10|11|12|13|14|15",
      "0-1|2-3|4-5|6-7|8-9|10-11|12-13|14-15", "0-3|4-7|8-11|12-15", "0-7|8-15"}},
    // Two kinds of memory at the same cores are one domain; no L3: the last level is L2.
    {"pack:1 [numa] [numa] l2:2 core:2 pu:1", {"0|1|2|3", "0|1|2|3", "0-1|2-3", "0-3", "0-3"}},
    // No packages and no caches at all: one of each.
    {"numa:1 core:3 pu:1", {"0|1|2", "0|1|2", "0-2", "0-2", "0-2"}},
};

TEST(Topology, GoldenMachines) {
  for (const Golden& golden : kMachines) {
    SCOPED_TRACE(golden.synthetic);
    Topology topology;
    const char* reason = nullptr;
    ASSERT_TRUE(topology_read_description(golden.synthetic, nullptr, nullptr, topology, reason)) << reason;
    for (int level = 0; level < kLevels; ++level) EXPECT_EQ(as_text(topology.level[level]), golden.levels[level]);
    topology_free(topology);
  }
}

TEST(Topology, ObjectsAreCutToWhatIsAllowed) {
  CpuMask allowed;
  for (const int cpu : {1, 4, 5, 6}) allowed.set(cpu);
  Topology topology;
  const char* reason = nullptr;
  ASSERT_TRUE(topology_read_description(kMachines[0].synthetic, nullptr, &allowed, topology, reason)) << reason;
  EXPECT_EQ(as_text(topology.level[static_cast<int>(Level::kThreads)]), "1|4|5|6");
  EXPECT_EQ(as_text(topology.level[static_cast<int>(Level::kCores)]), "1|4-5|6");
  EXPECT_EQ(as_text(topology.level[static_cast<int>(Level::kSockets)]), "1|4-6");
  topology_free(topology);
}

TEST(Topology, XmlKeepsTheSystemsNumbers) {
  Topology topology;
  const char* reason = nullptr;
  ASSERT_TRUE(topology_read_description(nullptr, MARLINE_TEST_DATA "/topologies/two_sockets_smt.xml", nullptr, topology,
                                        reason))
      << reason;
  EXPECT_EQ(as_text(topology.level[static_cast<int>(Level::kCores)]), "0,8|1,9|2,10|3,11|4,12|5,13|6,14|7,15");
  EXPECT_EQ(as_text(topology.level[static_cast<int>(Level::kSockets)]), "0-3,8-11|4-7,12-15");
  topology_free(topology);
}

TEST(Topology, NonsenseIsRefusedWithAReason) {
  Topology topology;
  const char* reason = nullptr;
  EXPECT_FALSE(topology_read_description("pack:0 of cards", nullptr, nullptr, topology, reason));
  EXPECT_NE(reason, nullptr);
  topology_free(topology);
  CpuMask elsewhere;
  elsewhere.set(100);
  reason = nullptr;
  EXPECT_FALSE(topology_read_description("pack:1 core:2 pu:1", nullptr, &elsewhere, topology, reason));
  EXPECT_NE(reason, nullptr);
  topology_free(topology);
}

TEST(Topology, ThisMachineIsWhatWeMayUse) {
  Topology topology;
  const char* reason = nullptr;
  ASSERT_TRUE(topology_read(topology, reason)) << reason;
  EXPECT_EQ(topology.level[static_cast<int>(Level::kThreads)].count, thread_affinity().count());
  for (const MaskList& list : topology.level) {
    CpuMask all;
    for (int i = 0; i < list.count; ++i) all |= list.masks[i];
    EXPECT_EQ(all, topology.allowed);
  }
  topology_free(topology);
}

TEST(CpuMask, FindsItsMembers) {
  CpuMask mask;
  EXPECT_TRUE(mask.empty());
  for (const int cpu : {0, 63, 64, 200, CpuMask::kCpus - 1}) mask.set(cpu);
  EXPECT_EQ(mask.count(), 5);
  EXPECT_EQ(mask.next(1), 63);
  EXPECT_EQ(mask.next(65), 200);
  EXPECT_EQ(mask.next(201), CpuMask::kCpus - 1);
  EXPECT_EQ(mask.next(CpuMask::kCpus), -1);
  mask.clear(0);
  EXPECT_EQ(mask.first(), 63);
}

}  // namespace
}  // namespace marline
