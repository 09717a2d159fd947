// SPDX-License-Identifier: Apache-2.0
//
// platform/topology/nearness.hpp: golden orders of victims on described machines.
#include "platform/topology/nearness.hpp"
#include "platform/topology/topology_read.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "platform/topology/places.hpp"

namespace marline {
namespace {

// A machine, its places, and a place for each member of a team.
class Machine {
 public:
  Machine(const char* description, const char* places_text, bool xml = false) {
    const char* reason = "";
    const std::string path = std::string(MARLINE_TEST_DATA "/topologies/") + description;
    EXPECT_TRUE(topology_read_description(xml ? nullptr : description, xml ? path.c_str() : nullptr, nullptr, topology_,
                                          reason))
        << reason;
    char buffer[256];
    Text why(buffer, sizeof buffer);
    EXPECT_TRUE(places_parse(places_text, topology_, places_, why)) << why.c_str();
    EXPECT_TRUE(locate_places(topology_, places_, map_));
  }
  ~Machine() {
    place_map_free(map_);
    places_.free_all();
    topology_free(topology_);
  }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  const PlaceMap& map() const { return map_; }

  void team(ProcBind policy, int threads) {
    std::vector<PlaceAssignment> assigned(static_cast<size_t>(threads));
    places_assign(policy, 0, places_.count, 0, threads, assigned.data());
    members_.clear();
    for (const PlaceAssignment& thread : assigned) members_.push_back(thread.place);
  }

  std::vector<int16_t> victims(int thief) const {
    std::vector<int16_t> order(members_.size() - 1, -1);
    victim_order(map_, members_.data(), static_cast<int>(members_.size()), thief, order.data());
    return order;
  }

  std::string order(int thief) const {
    std::string text;
    for (const int16_t victim : victims(thief)) text += (text.empty() ? "" : " ") + std::to_string(victim);
    return text;
  }

  int place(int member) const { return members_[static_cast<size_t>(member)]; }
  int size() const { return static_cast<int>(members_.size()); }

 private:
  Topology topology_;
  Places places_;
  PlaceMap map_;
  std::vector<int> members_;
};

TEST(VictimOrder, ThreadsOfACoreThenThePackageThenTheMachine) {
  Machine machine("pack:2 numa:1 l3:1 core:2 pu:2", "threads");
  machine.team(ProcBind::kClose, 8);
  EXPECT_EQ(machine.order(0), "1 2 3 4 5 6 7");
  EXPECT_EQ(machine.order(1), "0 3 2 5 6 7 4");
  EXPECT_EQ(machine.order(2), "3 0 1 6 7 4 5");
  EXPECT_EQ(machine.order(5), "4 7 6 1 2 3 0");
  EXPECT_EQ(machine.order(7), "6 5 4 3 0 1 2");
}

TEST(VictimOrder, GroupsOfCoresThatShareACacheAsOnEpyc) {
  // Two packages of two memory domains, each with two caches of three cores.
  Machine machine("pack:2 numa:2 l3:2 l2:3 core:1 pu:1", "cores");
  machine.team(ProcBind::kClose, 24);
  EXPECT_EQ(machine.order(0), "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23");
  EXPECT_EQ(machine.order(4), "5 3 1 2 0 10 11 6 7 8 9 16 17 18 19 20 21 22 23 12 13 14 15");
  EXPECT_EQ(machine.order(23), "21 22 20 18 19 17 12 13 14 15 16 11 0 1 2 3 4 5 6 7 8 9 10");
}

TEST(VictimOrder, SpreadTeamsStealWithinTheirDomainFirst) {
  Machine machine("pack:2 numa:2 core:4 pu:1", "cores");
  machine.team(ProcBind::kSpread, 8);  // places 0 2 4 6 | 8 10 12 14: two members per domain
  EXPECT_EQ(machine.order(0), "1 2 3 4 5 6 7");
  EXPECT_EQ(machine.order(3), "2 1 0 7 4 5 6");
  EXPECT_EQ(machine.order(4), "5 6 7 0 1 2 3");
}

TEST(VictimOrder, UnevenMachine) {
  // Four threads on two fast cores, and four slow cores that share a cache: hybrid.xml.
  Machine machine("hybrid.xml", "threads", true);
  machine.team(ProcBind::kClose, 8);
  EXPECT_EQ(machine.order(0), "1 2 3 4 5 6 7");
  EXPECT_EQ(machine.order(3), "2 5 6 7 0 1 4");  // the core shares only the last cache with others
  EXPECT_EQ(machine.order(4), "5 6 7 0 1 2 3");
  EXPECT_EQ(machine.order(6), "7 4 5 2 3 0 1");
}

TEST(VictimOrder, SystemsNumbersDoNotMatter) {
  // In this export the threads of a core are 0 and 8, 1 and 9, ...
  Machine machine("two_sockets_smt.xml", "{0},{1},{4},{5},{8},{12}", true);
  machine.team(ProcBind::kClose, 6);
  EXPECT_EQ(machine.order(0), "4 1 2 3 5");  // its core's other thread, its package, the other package
  EXPECT_EQ(machine.order(2), "5 3 4 0 1");
}

TEST(VictimOrder, MembersOfOnePlaceAreTheNearest) {
  Machine machine("pack:2 core:2 pu:1", "sockets");
  machine.team(ProcBind::kClose, 6);  // three per socket
  EXPECT_EQ(machine.order(0), "1 2 3 4 5");
  EXPECT_EQ(machine.order(4), "5 3 1 2 0");
}

TEST(VictimOrder, WithoutStructureItIsTheNeighbours) {
  Machine machine("numa:1 core:5 pu:1", "cores");
  machine.team(ProcBind::kClose, 5);
  EXPECT_EQ(machine.order(0), "1 2 3 4");
  EXPECT_EQ(machine.order(3), "4 0 1 2");
}

// For every team: each other member once, never farther ones before nearer ones; and where the machine and the team are
// even, no victim comes first for two thieves.
TEST(VictimOrder, PropertiesHoldEverywhere) {
  for (const char* synthetic :
       {"pack:2 numa:2 l3:2 l2:3 core:1 pu:2", "pack:3 l3:2 core:4 pu:1", "numa:1 core:7 pu:2"}) {
    for (const char* places : {"threads", "cores", "ll_caches", "sockets"}) {
      Machine machine(synthetic, places);
      for (const ProcBind policy : {ProcBind::kClose, ProcBind::kSpread, ProcBind::kPrimary}) {
        for (int threads = 2; threads <= 50; threads += 7) {
          SCOPED_TRACE(std::string(synthetic) + " " + places + " " + std::to_string(threads));
          machine.team(policy, threads);
          for (int thief = 0; thief < threads; ++thief) {
            const std::vector<int16_t> order = machine.victims(thief);
            ASSERT_EQ(std::set<int>(order.begin(), order.end()).size(), static_cast<size_t>(threads - 1));
            int last = PlaceLocation::kDepth + 1;
            for (const int16_t victim : order) {
              ASSERT_NE(victim, thief);
              const int near = nearness(machine.map(), machine.place(thief), machine.place(victim));
              ASSERT_LE(near, last);
              last = near;
            }
          }
        }
      }
    }
  }
}

TEST(VictimOrder, NoTwoThievesMeetFirstAtOneVictim) {
  Machine machine("pack:2 numa:2 l3:2 core:4 pu:1", "cores");
  machine.team(ProcBind::kClose, 32);
  for (const int distance : {0, 3, 7, 15}) {  // the first of the cache, of the domain, of the package, of the machine
    std::set<int> firsts;
    for (int thief = 0; thief < 32; ++thief) firsts.insert(machine.victims(thief)[static_cast<size_t>(distance)]);
    EXPECT_EQ(firsts.size(), 32u) << distance;
  }
}

TEST(PlaceMap, OfAMachineThatCouldNotBeReadIsOneDomain) {
  const Topology nothing{};
  Places places;
  CpuMask all;
  all.set(0);
  ASSERT_TRUE(places.append(all));
  PlaceMap map;
  ASSERT_TRUE(locate_places(nothing, places, map));
  for (int level = 0; level < kLevels; ++level) {
    EXPECT_EQ(map.domains[level], 1);
    EXPECT_EQ(map.places[0].domain[level], 0);
  }
  EXPECT_EQ(nearness(map, 0, 0), PlaceLocation::kDepth + 1);
  place_map_free(map);
  places.free_all();
}

TEST(PlaceMap, KnowsTheDomainsOfEachLevel) {
  Machine machine("pack:2 numa:2 l3:2 core:2 pu:2", "threads");
  const auto domain = [&](int place, Level level) {
    return machine.map().places[place].domain[static_cast<int>(level)];
  };
  EXPECT_EQ(domain(9, Level::kThreads), 9);
  EXPECT_EQ(domain(9, Level::kCores), 4);
  EXPECT_EQ(domain(9, Level::kLlCaches), 2);
  EXPECT_EQ(domain(9, Level::kNumaDomains), 1);
  EXPECT_EQ(domain(31, Level::kSockets), 1);
  EXPECT_EQ(machine.map().domains[static_cast<int>(Level::kNumaDomains)], 4);
}

}  // namespace
}  // namespace marline
