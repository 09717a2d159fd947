// SPDX-License-Identifier: Apache-2.0
//
// platform/topology/topology_sysfs.hpp: made-up machines, each read by Marline and by hwloc, which must agree; and
// which trees are refused.
#include "platform/topology/topology_sysfs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "platform/thread.hpp"
#include "platform/topology/topology_read.hpp"
#include "sysfs_tree.hpp"

namespace marline {
namespace {

const char* const kNames[kLevels] = {"threads", "cores", "ll_caches", "numa_domains", "sockets"};

CpuMask mask_of(const Cpus& cpus) {
  CpuMask mask;
  for (const int cpu : cpus) mask.set(cpu);
  return mask;
}

std::string as_text(const CpuMask& mask) {
  Cpus cpus;
  for (int cpu = mask.first(); cpu >= 0; cpu = mask.next(cpu + 1)) cpus.push_back(cpu);
  return SysfsTree::list(cpus);
}

// What a test compares: each level as text, in order; groups without one; the domain of each node that has one.
struct Summary {
  std::string levels[kLevels];
  std::set<std::string> groups;
  std::vector<int> domains;
};

// Keeps the allowed CPUs as topology.cpp does, because hwloc reads the whole machine from a tree.
Summary summary(const Topology& topology, const CpuMask& allowed) {
  Summary result;
  for (int level = 0; level < kLevels; ++level) {
    for (int i = 0; i < topology.level[level].count; ++i) {
      CpuMask mask = topology.level[level].masks[i];
      mask &= allowed;
      if (!mask.empty()) result.levels[level] += (result.levels[level].empty() ? "" : "|") + as_text(mask);
    }
  }
  for (int i = 0; i < topology.groups.count; ++i) {
    CpuMask mask = topology.groups.masks[i];
    mask &= allowed;
    if (mask.count() >= 2) result.groups.insert(as_text(mask));
  }
  for (const int16_t domain : topology.domain_of_node) result.domains.push_back(domain);
  return result;
}

bool read_tree(const SysfsTree& tree, const Cpus& allowed, Summary& result) {
  Topology topology;
  const bool good = topology_read_sysfs(tree.root().c_str(), mask_of(allowed), topology);
  if (good) {
    EXPECT_EQ(as_text(topology.allowed), SysfsTree::list(allowed));
    EXPECT_TRUE(topology.this_system);
    EXPECT_EQ(topology.groups.count, static_cast<int>(summary(topology, topology.allowed).groups.size())) << "twice";
    for (int i = 1; i < topology.groups.count; ++i) {  // each group after the groups that contain it
      EXPECT_LE(topology.groups.masks[i].count(), topology.groups.masks[i - 1].count());
    }
    result = summary(topology, topology.allowed);
  }
  topology_free(topology);
  return good;
}

// Read by hwloc: either variable makes topology_read use it. For a tree, hwloc must not ask this machine's processor.
Summary by_hwloc(const std::string& root, const CpuMask& allowed) {
  if (!root.empty()) setenv("HWLOC_FSROOT", root.c_str(), 1);
  setenv("HWLOC_COMPONENTS", root.empty() ? "linux" : "linux,stop", 1);
  Topology topology;
  const char* reason = "";
  EXPECT_TRUE(topology_read(topology, reason)) << reason;
  unsetenv("HWLOC_FSROOT");
  unsetenv("HWLOC_COMPONENTS");
  const Summary result = summary(topology, allowed);
  topology_free(topology);
  return result;
}

void expect_equal(const Summary& ours, const Summary& hwloc) {
  for (int level = 0; level < kLevels; ++level) EXPECT_EQ(ours.levels[level], hwloc.levels[level]) << kNames[level];
  EXPECT_EQ(ours.groups, hwloc.groups);
}

void agrees_with_hwloc(const SysfsTree& tree, const Cpus& allowed) {
  SCOPED_TRACE(SysfsTree::list(allowed));
  Summary ours;
  ASSERT_TRUE(read_tree(tree, allowed, ours));
  expect_equal(ours, by_hwloc(tree.root(), mask_of(allowed)));
}

TEST(TopologySysfs, AServerOf256Cpus) {
  SysfsTree tree;
  kLargeServer.build(tree);
  agrees_with_hwloc(tree, kLargeServer.all());
  Summary whole;
  ASSERT_TRUE(read_tree(tree, kLargeServer.all(), whole));
  EXPECT_EQ(whole.levels[static_cast<int>(Level::kSockets)], "0-63,128-191|64-127,192-255");
  EXPECT_EQ(whole.levels[static_cast<int>(Level::kNumaDomains)].substr(0, 30), "0-15,128-143|16-31,144-159|32-");
  EXPECT_EQ(whole.levels[static_cast<int>(Level::kCores)].substr(0, 17), "0,128|1,129|2,130");
  EXPECT_EQ(whole.groups.size(), 1u + 2 + 8 + 16 + 128);
  EXPECT_EQ(std::vector<int>(whole.domains.begin(), whole.domains.begin() + 9),
            (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, -1}));
}

// A process's control group or launcher gives it some CPUs: then nodes without any of them are no domains.
TEST(TopologySysfs, OnlySomeCpusAreAllowed) {
  const Server server{2, 8, 2, 4};
  SysfsTree tree;
  server.build(tree);
  for (const Cpus& allowed : {cpu_range(4, 4), cpu_range(3, 1), cpu_range(1, 16, 2), Cpus{2, 9, 13, 25, 29, 31}}) {
    agrees_with_hwloc(tree, allowed);
  }
  Summary part;
  ASSERT_TRUE(read_tree(tree, cpu_range(4, 8), part));
  EXPECT_EQ(part.levels[static_cast<int>(Level::kNumaDomains)], "4-7|8-11");
  EXPECT_EQ(std::vector<int>(part.domains.begin(), part.domains.begin() + 4), (std::vector<int>{-1, 0, 1, -1}));
}

TEST(TopologySysfs, NumbersThatAlternateBetweenSockets) {
  const Cpus cpus = cpu_range(0, 16);
  const auto core_of = [](int cpu) { return cpu % 8; };
  const auto socket_of = [](int cpu) { return cpu % 2; };
  SysfsTree tree;
  tree.online(cpus);
  tree.sets("core_cpus", cpus, core_of);
  tree.sets("package_cpus", cpus, socket_of);
  tree.caches(0, 1, "Data", cpus, core_of);
  tree.caches(1, 2, "Unified", cpus, core_of);
  tree.caches(2, 3, "Unified", cpus, socket_of);
  tree.node(0, cpus_with(cpus, socket_of, 1), "10 20");  // the nodes in the other order
  tree.node(1, cpus_with(cpus, socket_of, 0), "20 10");
  agrees_with_hwloc(tree, cpus);
  agrees_with_hwloc(tree, {3, 4, 6, 9, 13});
  Summary all;
  ASSERT_TRUE(read_tree(tree, cpus, all));
  EXPECT_EQ(all.levels[static_cast<int>(Level::kCores)], "0,8|2,10|4,12|6,14|1,9|3,11|5,13|7,15");
  EXPECT_EQ(all.domains[0], 1);
  EXPECT_EQ(all.domains[1], 0);
}

// Fast cores with two threads; slow cores, four of which share a second-level cache; two more cores without a third
// level.
void build_hybrid(SysfsTree& tree, const Cpus& cpus) {
  const auto core_of = [](int cpu) { return cpu < 8 ? cpu / 2 : cpu - 4; };
  const auto second_of = [](int cpu) { return cpu < 8 ? cpu / 2 : 4 + (cpu - 8) / 4; };
  tree.online(cpus);
  tree.sets("core_cpus", cpus, core_of);
  tree.sets("cluster_cpus", cpus, second_of);
  tree.set("package_cpus", cpus);
  tree.caches(0, 1, "Data", cpus, core_of);
  tree.caches(1, 1, "Instruction", cpus, core_of);
  tree.caches(2, 2, "Unified", cpus, second_of);
  tree.cache(3, 3, "Unified", cpus_with(cpus, [](int cpu) { return cpu < 16 ? 0 : 1; }, 0));
  tree.node(0, cpus, "10");
}

TEST(TopologySysfs, CoresOfSeveralKinds) {
  SysfsTree tree;
  build_hybrid(tree, cpu_range(0, 18));
  agrees_with_hwloc(tree, cpu_range(0, 18));
  agrees_with_hwloc(tree, cpu_range(6, 10));
  Summary slow;
  ASSERT_TRUE(read_tree(tree, {16, 17}, slow));
  EXPECT_EQ(slow.levels[static_cast<int>(Level::kLlCaches)], "16-17") << "their last level is the second";
}

// The first CPU has fewer caches than others.
TEST(TopologySysfs, SlowCoresFirst) {
  const Cpus cpus = cpu_range(0, 6);
  SysfsTree tree;
  tree.online(cpus);
  tree.sets("core_cpus", cpus, [](int cpu) { return cpu; });
  tree.set("package_cpus", cpus);
  tree.caches(0, 1, "Data", cpus, [](int cpu) { return cpu; });
  tree.caches(1, 2, "Unified", cpus, [](int cpu) { return cpu < 2 ? 0 : cpu - 1; });
  tree.cache(2, 3, "Unified", cpu_range(2, 4));
  agrees_with_hwloc(tree, cpus);
}

TEST(TopologySysfs, CpusThatAreOffline) {
  Cpus cpus;
  for (const int cpu : cpu_range(0, 18)) {
    if (cpu != 0 && cpu != 5 && cpu != 10) cpus.push_back(cpu);
  }
  SysfsTree tree;
  build_hybrid(tree, cpus);
  tree.file("cpu/cpu5/online", "0");
  agrees_with_hwloc(tree, cpus);
}

// thread_siblings and core_siblings, before Linux 5.3; no dies, no clusters.
TEST(TopologySysfs, OldKernels) {
  const Cpus cpus = cpu_range(0, 8);
  SysfsTree tree;
  tree.online(cpus);
  tree.sets("thread_siblings", cpus, [](int cpu) { return cpu % 4; });
  tree.sets("core_siblings", cpus, [](int cpu) { return cpu % 4 / 2; });
  tree.caches(0, 1, "Data", cpus, [](int cpu) { return cpu % 4; });
  tree.caches(1, 2, "Unified", cpus, [](int cpu) { return cpu % 4 / 2; });
  agrees_with_hwloc(tree, cpus);
}

// Virtual machines: no cache folder, no NUMA.
TEST(TopologySysfs, WithoutCachesAndNodes) {
  const Cpus cpus = cpu_range(0, 6);
  SysfsTree tree;
  tree.online(cpus);
  tree.sets("core_cpus", cpus, [](int cpu) { return cpu / 2; });
  tree.sets("cluster_cpus", cpus, [](int cpu) { return cpu; });
  tree.set("package_cpus", cpus);
  agrees_with_hwloc(tree, cpus);
  Summary plain;
  ASSERT_TRUE(read_tree(tree, cpus, plain));
  EXPECT_EQ(plain.levels[static_cast<int>(Level::kLlCaches)], "0-5");
  EXPECT_EQ(plain.domains[0], 0);
}

// Clusters that share no cache (Arm), dies within packages.
TEST(TopologySysfs, ClustersAndDies) {
  const Cpus cpus = cpu_range(0, 32);
  const auto core_of = [](int cpu) { return cpu; };
  SysfsTree tree;
  tree.online(cpus);
  tree.sets("core_cpus", cpus, core_of);
  tree.sets("cluster_cpus", cpus, [](int cpu) { return cpu / 4; });
  tree.sets("die_cpus", cpus, [](int cpu) { return cpu / 8; });
  tree.sets("package_cpus", cpus, [](int cpu) { return cpu / 16; });
  tree.caches(0, 1, "Data", cpus, core_of);
  tree.caches(1, 1, "Instruction", cpus, core_of);
  tree.caches(2, 2, "Unified", cpus, core_of);
  tree.caches(3, 3, "Unified", cpus, [](int cpu) { return cpu / 8; });
  for (int node = 0; node < 2; ++node) tree.node(node, cpu_range(node * 16, 16), node == 0 ? "10 20" : "20 10");
  agrees_with_hwloc(tree, cpus);
  agrees_with_hwloc(tree, {0, 4, 5, 8, 9, 20});
}

// Power: first-level caches of four threads in cores of eight; and a machine with no other cache.
TEST(TopologySysfs, FirstLevelCaches) {
  const Cpus cpus = cpu_range(0, 16);
  SysfsTree tree;
  tree.online(cpus);
  tree.sets("core_cpus", cpus, [](int cpu) { return cpu / 8; });
  tree.set("package_cpus", cpus);
  tree.caches(0, 1, "Data", cpus, [](int cpu) { return cpu / 8 * 2 + cpu % 2; });
  agrees_with_hwloc(tree, cpus);
  tree.caches(1, 2, "Unified", cpus, [](int cpu) { return cpu / 8; });
  agrees_with_hwloc(tree, cpus);
  SysfsTree small;
  small.online(cpu_range(0, 4));
  small.sets("core_cpus", cpu_range(0, 4), [](int cpu) { return cpu / 2; });
  small.caches(0, 1, "Data", cpu_range(0, 4), [](int cpu) { return cpu / 2; });
  agrees_with_hwloc(small, cpu_range(0, 4));
}

// Unlike hwloc, which takes nodes without any data for domains that are the whole machine.
TEST(TopologySysfs, NodesWithoutCpusAreNoDomains) {
  SysfsTree tree;
  Server{2, 2, 2, 2}.build(tree);  // nodes 0 and 1
  tree.node(2, {}, "20 30 10 40");
  tree.node(3, {}, "25 25 40 10");
  tree.node(4, {}, "25 25 40 40");
  tree.node(5, {}, "20 30 40 40");
  tree.file("node/node4/access0/initiators/node1/x", "");
  tree.file("node/node5/access0/initiators/node0/x", "");
  tree.file("node/node5/access0/initiators/node1/x", "");
  Summary all;
  ASSERT_TRUE(read_tree(tree, cpu_range(0, 8), all));
  EXPECT_EQ(all.levels[static_cast<int>(Level::kNumaDomains)], "0-1,4-5|2-3,6-7");
  EXPECT_EQ(std::vector<int>(all.domains.begin(), all.domains.begin() + 6),
            (std::vector<int>{0, 1, 0, -1, 1, -1}));  // the nearest; two equally near; as the firmware says, and twice
  Summary part;
  ASSERT_TRUE(read_tree(tree, {2, 3}, part));
  EXPECT_EQ(std::vector<int>(part.domains.begin(), part.domains.begin() + 6), (std::vector<int>{-1, 0, -1, -1, 0, -1}));
}

TEST(TopologySysfs, WhatSaysTooLittleIsRefused) {
  const Server server{1, 4, 4, 2};
  Summary none;
  SysfsTree tree;
  EXPECT_FALSE(read_tree(tree, server.all(), none)) << "no /sys";
  tree.online(server.all());
  EXPECT_FALSE(read_tree(tree, server.all(), none)) << "no topology folder";
  server.build(tree);
  EXPECT_TRUE(read_tree(tree, server.all(), none));
  EXPECT_FALSE(read_tree(tree, {}, none)) << "no CPU";
  EXPECT_FALSE(read_tree(tree, cpu_range(0, 9), none)) << "CPU 8 is not there";
  tree.file("node/node1/cpulist", "2-3,6-7;");
  EXPECT_FALSE(read_tree(tree, server.all(), none)) << "a malformed list";
  tree.file("node/node1/cpulist", "2-4096");
  EXPECT_FALSE(read_tree(tree, server.all(), none)) << "a number out of range";
  tree.remove_file("node/node1/cpulist");
  EXPECT_FALSE(read_tree(tree, server.all(), none)) << "a node without a list";
}

TEST(TopologySysfs, ContradictionsAreRefused) {
  const Server server{2, 4, 2, 4};
  Summary none;
  SysfsTree tree;
  server.build(tree);
  ASSERT_TRUE(read_tree(tree, server.all(), none));
  tree.file("cpu/cpu2/topology/core_cpus_list", "3,11");
  EXPECT_FALSE(read_tree(tree, server.all(), none)) << "a core without the CPU that names it";
  tree.set("core_cpus", {2, 3, 10});
  EXPECT_FALSE(read_tree(tree, server.all(), none)) << "cores that overlap";
  tree.set("core_cpus", {2, 10});
  tree.set("core_cpus", {3, 11});
  ASSERT_TRUE(read_tree(tree, server.all(), none));
  tree.cache(3, 3, "Unified", {2, 3, 4, 5, 10, 11, 12, 13});
  EXPECT_FALSE(read_tree(tree, server.all(), none)) << "a cache across the sockets";
  EXPECT_TRUE(read_tree(tree, {0, 1, 2, 3, 8, 9, 10, 11}, none)) << "in the first socket nothing is wrong";
}

// This machine, too; if /sys does not say enough, Marline uses hwloc, too, and there is nothing to compare.
TEST(TopologySysfs, ThisMachine) {
  Topology topology;
  const CpuMask allowed = thread_affinity();
  if (topology_read_sysfs("", allowed, topology)) {
    expect_equal(summary(topology, allowed), by_hwloc("", allowed));
  }
  topology_free(topology);
}

}  // namespace
}  // namespace marline
