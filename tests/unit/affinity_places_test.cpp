// SPDX-License-Identifier: Apache-2.0
//
// KMP_AFFINITY and GOMP_CPU_AFFINITY, from the variable's text to the CPUs of each thread, on described machines.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "config/read_options.hpp"
#include "platform/topology/places.hpp"
#include "platform/topology/topology_read.hpp"

namespace marline {
namespace {

const char* variable_name;
const char* variable_text;

const char* lookup(const char* name) { return strcmp(name, variable_name) == 0 ? variable_text : nullptr; }

struct Machine {
  Topology topology;
  explicit Machine(const char* description, const CpuMask* allowed = nullptr) {
    const char* failure = "";
    const bool xml = strstr(description, ".xml") != nullptr;
    const std::string path = std::string(MARLINE_TEST_DATA "/topologies/") + description;
    EXPECT_TRUE(topology_read_description(xml ? nullptr : description, path.c_str(), allowed, topology, failure))
        << failure;
  }
  ~Machine() { topology_free(topology); }
};

// The CPUs of `threads` threads, separated by blanks; or the reason why there are none.
std::string placed(const Machine& machine, const char* name, const char* text, int threads) {
  variable_name = name;
  variable_text = text;
  Options options{};
  options_parse(options, lookup);
  EXPECT_NE(options.affinity.kind, AffinityKind::kPlaces) << text;
  Places places;
  char buffer[1024];
  Text out(buffer, sizeof buffer);
  if (places_for_affinity(options.affinity, machine.topology, places, out)) {
    std::vector<PlaceAssignment> assigned(static_cast<size_t>(threads));
    places_assign(options.proc_bind[0], 0, places.count, -1, threads, assigned.data());
    for (int i = 0; i < threads; ++i) {
      if (i > 0) out.add(" ");
      show_cpus(out, places.masks[assigned[static_cast<size_t>(i)].place]);
    }
  }
  places.free_all();
  return out.c_str();
}

constexpr const char* kTwoSockets = "pack:2 core:2 pu:2";  // cores {0,1} {2,3} | {4,5} {6,7}

TEST(AffinityPlaces, KmpAffinity) {
  struct {
    const char* text;
    int threads;
    const char* expected;
  } const cases[] = {
      {"granularity=fine,compact", 8, "0 1 2 3 4 5 6 7"},
      {"granularity=fine,compact,1", 8, "0 2 4 6 1 3 5 7"},
      {"granularity=fine,compact,1,0", 4, "0 2 4 6"},
      {"granularity=fine,compact,2", 8, "0 4 2 6 1 5 3 7"},
      {"granularity=fine,compact,99", 8, "0 4 2 6 1 5 3 7"},
      {"granularity=fine,scatter", 8, "0 4 2 6 1 5 3 7"},
      {"granularity=fine,scatter,1", 8, "0 2 4 6 1 3 5 7"},
      {"granularity=fine,scatter,2", 8, "0 1 2 3 4 5 6 7"},
      {"granularity=fine,compact,0,3", 4, "3 4 5 6"},
      {"granularity=fine,scatter,0,6", 4, "3 7 0 4"},
      {"granularity=fine,compact,0,8", 2, "0 1"},
      {"compact", 4, "0-1 0-1 2-3 2-3"},
      {"scatter", 5, "0-1 4-5 2-3 6-7 0-1"},
      {"granularity=socket,scatter", 3, "0-3 4-7 0-3"},
      {"granularity=fine,compact", 10, "0 1 2 3 4 5 6 7 0 1"},  // starts again at 0 after the last CPU
      {"balanced", 4, "0-1 2-3 4-5 6-7"},
      {"balanced", 8, "0-1 0-1 2-3 2-3 4-5 4-5 6-7 6-7"},
      {"balanced", 2, "0-1 2-3"},
      {"proclist=[6,{0,1},2-3],explicit", 4, "6 0-1 2 3"},
      {"explicit,proclist=[7,0-4:2]", 5, "7 0 2 4 7"},
      {"physical", 3, "0-1 4-5 2-3"},
  };
  const Machine machine(kTwoSockets);
  for (const auto& one : cases)
    EXPECT_EQ(placed(machine, "KMP_AFFINITY", one.text, one.threads), one.expected) << one.text;
}

TEST(AffinityPlaces, NumbersThatAreNotInTheOrderOfTheMachine) {
  const Machine machine("two_sockets_smt.xml");  // cores {0,8} {1,9} ... on two sockets of four
  EXPECT_EQ(placed(machine, "KMP_AFFINITY", "granularity=fine,compact", 4), "0 8 1 9");
  EXPECT_EQ(placed(machine, "KMP_AFFINITY", "granularity=fine,compact,1,0", 9), "0 1 2 3 4 5 6 7 8");
  EXPECT_EQ(placed(machine, "KMP_AFFINITY", "granularity=fine,scatter", 4), "0 4 1 5");
  EXPECT_EQ(placed(machine, "KMP_AFFINITY", "scatter", 2), "0,8 4,12");
}

TEST(AffinityPlaces, CoresWithDifferentNumbersOfThreads) {
  const Machine machine("hybrid.xml");  // cores {0,1} {2,3} {4} {5} {6} {7}
  EXPECT_EQ(placed(machine, "KMP_AFFINITY", "granularity=fine,compact", 8), "0 1 2 3 4 5 6 7");
  EXPECT_EQ(placed(machine, "KMP_AFFINITY", "granularity=fine,scatter", 8), "0 2 4 5 6 7 1 3");
  EXPECT_EQ(placed(machine, "KMP_AFFINITY", "balanced", 6), "0-1 2-3 4 5 6 7");
}

TEST(AffinityPlaces, GompCpuAffinity) {
  const Machine machine(kTwoSockets);
  EXPECT_EQ(placed(machine, "GOMP_CPU_AFFINITY", "0 3 1-2 4-7:2", 6), "0 3 1 2 4 6");
  EXPECT_EQ(placed(machine, "GOMP_CPU_AFFINITY", "7,5 3", 5), "7 5 3 7 5");
  EXPECT_EQ(placed(machine, "GOMP_CPU_AFFINITY", "2", 3), "2 2 2");
}

TEST(AffinityPlaces, AreCutToTheProcessesCpus) {
  CpuMask allowed;
  for (const int cpu : {2, 3, 5}) allowed.set(cpu);
  const Machine machine(kTwoSockets, &allowed);
  EXPECT_EQ(placed(machine, "KMP_AFFINITY", "granularity=fine,compact", 4), "2 3 5 2");
  EXPECT_EQ(placed(machine, "KMP_AFFINITY", "scatter", 3), "2-3 5 2-3");
  EXPECT_EQ(placed(machine, "GOMP_CPU_AFFINITY", "0-7", 3), "2 3 5");
  EXPECT_EQ(placed(machine, "GOMP_CPU_AFFINITY", "0 7", 3), "no place has a CPU that this process may use");
}

}  // namespace
}  // namespace marline
