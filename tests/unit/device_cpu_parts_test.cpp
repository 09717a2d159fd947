// SPDX-License-Identifier: Apache-2.0
//
// Parts of made-up machines: two sockets with two domains of two cores each, and two hardware threads per core, the
// second of which the system numbers after all cores.
#include "device/processor/cpu_parts.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace marline::offload::device {
namespace {

constexpr int kCores = 8;

std::vector<CpuPlace> machine() {
  std::vector<CpuPlace> cpus;
  for (int cpu = 0; cpu < 2 * kCores; ++cpu) {
    const int core = cpu % kCores;
    cpus.push_back({cpu, core / 4, core / 2, core % 4});
  }
  return cpus;
}

// "0,8,1,9 | 2,10,..." in ascending numbers.
std::string divided(PartsBy by, int shares, std::vector<CpuPlace> cpus) {
  static CpuPart parts[kMostCpuParts];
  const int count = divide_places(by, shares, cpus.data(), static_cast<int>(cpus.size()), parts);
  std::string text;
  int all = 0;
  for (int i = 0; i < count; ++i) {
    text += i == 0 ? "" : " | ";
    int found = 0;
    for (int cpu = 0; cpu < kMostCpus; ++cpu) {
      if ((parts[i].cpus[cpu / 64] >> (cpu % 64) & 1) == 0) continue;
      text += (found++ == 0 ? "" : ",") + std::to_string(cpu);
    }
    EXPECT_EQ(parts[i].count, found);
    all += found;
    text += " s" + std::to_string(parts[i].socket) + " d" + std::to_string(parts[i].domain) +
            (parts[i].has_own_domain ? "!" : "");
  }
  for (int i = 0; i < count; ++i) EXPECT_EQ(parts[i].of, all);
  return text;
}

TEST(CpuParts, TheMachineIsOne) {
  EXPECT_EQ(divided(PartsBy::kMachine, 1, machine()), "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15 s-1 d-1");
}

TEST(CpuParts, SocketsAndDomains) {
  EXPECT_EQ(divided(PartsBy::kSockets, 1, machine()), "0,1,2,3,8,9,10,11 s0 d-1 | 4,5,6,7,12,13,14,15 s1 d-1");
  EXPECT_EQ(divided(PartsBy::kDomains, 1, machine()),
            "0,1,8,9 s0 d0! | 2,3,10,11 s0 d1! | 4,5,12,13 s1 d2! | 6,7,14,15 s1 d3!");
}

TEST(CpuParts, SharesKeepCoresTogether) {
  EXPECT_EQ(divided(PartsBy::kShares, 1, machine()), "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15 s-1 d-1");
  EXPECT_EQ(divided(PartsBy::kShares, 2, machine()), "0,1,2,3,8,9,10,11 s0 d-1 | 4,5,6,7,12,13,14,15 s1 d-1");
  EXPECT_EQ(divided(PartsBy::kShares, 3, machine()), "0,1,2,8,9,10 s0 d-1 | 3,4,5,11,12,13 s-1 d-1 | 6,7,14,15 s1 d3!");
}

TEST(CpuParts, MorePartsThanCores) {
  const std::vector<CpuPlace> two = {{4, 0, 0, 0}, {6, 0, 0, 1}};
  EXPECT_EQ(divided(PartsBy::kShares, 5, two), "4 s0 d0 | 6 s0 d0 | 4 s0 d0 | 6 s0 d0 | 4 s0 d0");
}

// A container may show nothing of the machine.
TEST(CpuParts, PlacesThatAreNotKnown) {
  const std::vector<CpuPlace> hidden = {{0, -1, -1, -1}, {1, -1, -1, -1}, {2, -1, -1, -1}, {700, -1, -1, -1}};
  EXPECT_EQ(divided(PartsBy::kSockets, 1, hidden), "0,1,2,700 s-1 d-1");
  EXPECT_EQ(divided(PartsBy::kDomains, 1, hidden), "0,1,2,700 s-1 d-1");
  EXPECT_EQ(divided(PartsBy::kShares, 2, hidden), "0,1 s-1 d-1 | 2,700 s-1 d-1");
}

}  // namespace
}  // namespace marline::offload::device
