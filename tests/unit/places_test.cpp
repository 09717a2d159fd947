// SPDX-License-Identifier: Apache-2.0
//
// platform/topology/places.hpp: OMP_PLACES values and binding policies against golden results on described machines.
#include "platform/topology/places.hpp"
#include "platform/topology/topology_read.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "config/read_options.hpp"
#include "platform/topology/hw_subset.hpp"

namespace marline {
namespace {

constexpr const char* kTwoSockets = "pack:2 numa:1 l3:1 core:2 pu:2";  // cores {0,1} {2,3} | {4,5} {6,7}

struct Parsed {
  bool good;
  std::string text;  // the places, or the reason
};

Parsed parse(const char* places_text, const CpuMask* allowed = nullptr) {
  Topology topology;
  const char* failure = "";
  EXPECT_TRUE(topology_read_description(kTwoSockets, nullptr, allowed, topology, failure)) << failure;
  char buffer[1024];
  Text reason(buffer, sizeof buffer);
  Places places;
  Parsed result{places_parse(places_text, topology, places, reason), ""};
  if (result.good) {
    EXPECT_EQ(reason.length(), 0u);
    for (int i = 0; i < places.count; ++i) {
      reason.add("%s", i == 0 ? "" : "|");
      show_cpus(reason, places.masks[i]);
    }
  }
  result.text = reason.c_str();
  places.free_all();
  topology_free(topology);
  return result;
}

TEST(Places, GoldenLists) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "0-1|2-3|4-5|6-7"},
      {"threads", "0|1|2|3|4|5|6|7"},
      {" Cores ", "0-1|2-3|4-5|6-7"},
      {"ll_caches", "0-3|4-7"},
      {"numa_domains", "0-3|4-7"},
      {"sockets", "0-3|4-7"},
      {"threads(3)", "0|1|2"},
      {"cores ( 2 )", "0-1|2-3"},
      {"cores(99)", "0-1|2-3|4-5|6-7"},
      {"threads(4:2)", "0|2|4|6"},  // OpenMP 6.0, section 4.1.6
      {"threads(2:3)", "0|3"},
      {"cores(99 : 3)", "0-1|6-7"},
      {"sockets(2:5)", "0-3"},
      {"{0,1},{4,5}", "0-1|4-5"},
      {"{0:4}", "0-3"},
      {"{0:4:2}", "0,2,4,6"},
      {"{6:4:-2}", "0,2,4,6"},
      {"{0:2}:4:2", "0-1|2-3|4-5|6-7"},
      {"{0}:3", "0|1|2"},
      {"{6}:4:-2", "6|4|2|0"},
      {"{0:8,!3}", "0-2,4-7"},
      {"{!3,0:4}", "0-2"},
      {"{0}:8,!{3},!{5}", "0|1|2|4|6|7"},
      {"!{0},{0}:3", "1|2"},
      {" { 0 : 2 } : 2 : 4 , { 3 } ", "0-1|4-5|3"},
      {"0,2,{4:2}", "0|2|4-5"},
      {"6:3:-2", "6|4|2"},
      {"1,1,!1,3,!3", "1"},  // each ! removes one place, the last one before it
      {"{0,1},{3,2,4},{6,5,!6},{6},{7:2:-1,!6}", "0-1|2-4|5|6|7"},
      {"1,2,{2,3,!2},3,3,!3,!{5:3:-1,!4,!5},{4},5,!4,!5,1:2,!{1},!2,7:3:-2,!{5},!7,!3", "1|2|3"},
      {"{7,8},{20}", "7"},  // missing CPUs are left out, and so is a place that is then empty
  };
  for (const auto& [text, expected] : cases) {
    const Parsed parsed = parse(text);
    EXPECT_TRUE(parsed.good) << text;
    EXPECT_EQ(parsed.text, expected) << text;
  }
}

TEST(Places, AreCutToTheProcessesCpus) {
  CpuMask allowed;
  for (const int cpu : {2, 3, 5}) allowed.set(cpu);
  EXPECT_EQ(parse("cores", &allowed).text, "2-3|5");
  EXPECT_EQ(parse("{0:4},{5},{6}", &allowed).text, "2-3|5");
}

TEST(Places, BadListsSayWhatIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {"planets", "expected threads, cores"},
      {"cores(", "positive number"},
      {"cores(0)", "positive number"},
      {"cores(2", "expected )"},
      {"cores,threads", "unexpected"},
      {"{0", "expected }"},
      {"{}", "expected a CPU number"},
      {"{0},", "expected threads"},
      {"{0:0}", "positive length"},
      {"{0:2:}", "expected a stride"},
      {"{0}:0", "positive length"},
      {"{-1}", "expected a CPU number"},
      {"{0:3:-1}", "leaves the range"},
      {"{1}:3:-1", "leaves the range"},
      {"{4095}:2", "leaves the range"},
      {"{0}x", "unexpected text at \"x\""},
      {"!{0}", "no place"},
      {"{100}", "no place"},
      {"{0:2,!0,!1}", "no place"},
      {"0,", "expected threads"},
      {"0 1", "unexpected text"},
  };
  for (const auto& [text, expected] : cases) {
    const Parsed parsed = parse(text);
    EXPECT_FALSE(parsed.good) << text;
    EXPECT_NE(parsed.text.find(expected), std::string::npos) << text << ": " << parsed.text;
  }
}

std::string assign(ProcBind policy, int first, int count, int parent, int threads) {
  std::vector<PlaceAssignment> result(static_cast<size_t>(threads), PlaceAssignment{-1, -1, -1});
  places_assign(policy, first, count, parent, threads, result.data());
  std::string text;
  for (const PlaceAssignment& thread : result) {
    if (!text.empty()) text += ' ';
    text += std::to_string(thread.place) + "@" + std::to_string(thread.partition_first) + "+" +
            std::to_string(thread.partition_count);
  }
  return text;
}

TEST(Policies, PrimaryPutsAllWhereTheParentIs) {
  EXPECT_EQ(assign(ProcBind::kPrimary, 0, 4, 2, 3), "2@0+4 2@0+4 2@0+4");
}

TEST(Policies, CloseGoesRoundFromTheParent) {
  EXPECT_EQ(assign(ProcBind::kClose, 0, 4, 2, 3), "2@0+4 3@0+4 0@0+4");
  EXPECT_EQ(assign(ProcBind::kClose, 2, 2, 3, 2), "3@2+2 2@2+2");
  EXPECT_EQ(assign(ProcBind::kClose, 0, 4, -1, 2), "0@0+4 1@0+4");
}

TEST(Policies, CloseWithMoreThreadsThanPlacesPacksNeighbours) {
  EXPECT_EQ(assign(ProcBind::kClose, 0, 2, 1, 4), "1@0+2 1@0+2 0@0+2 0@0+2");
  EXPECT_EQ(assign(ProcBind::kClose, 0, 3, 0, 4), "0@0+3 1@0+3 2@0+3 2@0+3");
}

TEST(Policies, SpreadDividesThePartition) {
  EXPECT_EQ(assign(ProcBind::kSpread, 0, 8, 0, 4), "0@0+2 2@2+2 4@4+2 6@6+2");
  EXPECT_EQ(assign(ProcBind::kSpread, 0, 8, 5, 4), "5@4+2 6@6+2 0@0+2 2@2+2");
  EXPECT_EQ(assign(ProcBind::kSpread, 0, 8, 0, 3), "0@0+3 3@3+3 6@6+2");
  EXPECT_EQ(assign(ProcBind::kSpread, 4, 4, 6, 2), "6@6+2 4@4+2");
  EXPECT_EQ(assign(ProcBind::kSpread, 0, 4, 0, 4), "0@0+1 1@1+1 2@2+1 3@3+1");
}

TEST(Policies, SpreadWithMoreThreadsThanPlacesNarrowsToOnePlace) {
  EXPECT_EQ(assign(ProcBind::kSpread, 0, 2, 1, 3), "1@1+1 0@0+1 0@0+1");
}

TEST(Policies, TrueMeansSpread) {
  EXPECT_EQ(assign(ProcBind::kBound, 0, 8, 0, 2), assign(ProcBind::kSpread, 0, 8, 0, 2));
}

// OpenMP 5.1, 2.6.2, for every small case: each place gets floor(T/P) or ceil(T/P) threads, the primary thread stays,
// and every thread's place is in its partition, which lies in the parent's.
TEST(Policies, PropertiesHoldEverywhere) {
  for (const ProcBind policy : {ProcBind::kClose, ProcBind::kSpread}) {
    for (int count = 1; count <= 9; ++count) {
      for (int parent = 0; parent < count; ++parent) {
        for (int threads = 1; threads <= 20; ++threads) {
          constexpr int kFirst = 3;
          std::vector<PlaceAssignment> result(static_cast<size_t>(threads));
          places_assign(policy, kFirst, count, kFirst + parent, threads, result.data());
          ASSERT_EQ(result[0].place, kFirst + parent);
          std::vector<int> load(static_cast<size_t>(count), 0);
          for (const PlaceAssignment& thread : result) {
            ASSERT_GE(thread.partition_first, kFirst);
            ASSERT_LE(thread.partition_first + thread.partition_count, kFirst + count);
            ASSERT_GE(thread.place, thread.partition_first);
            ASSERT_LT(thread.place, thread.partition_first + thread.partition_count);
            ++load[static_cast<size_t>(thread.place - kFirst)];
          }
          for (const int here : load) {
            ASSERT_GE(here, threads / count);
            ASSERT_LE(here, (threads + count - 1) / count);
          }
        }
      }
    }
  }
}

// From the machine to the CPUs of each thread, in one go.
struct Placement {
  const char* machine;  // a synthetic description, or an export under topologies/
  const char* places;
  ProcBind policy;
  int threads;
  const char* masks;
};

constexpr const char* kEpyc = "pack:2 numa:2 l3:2 l2:2 core:1 pu:2";  // 16 cores, 2 threads each; 4 CPUs per cache

const Placement kPlacements[] = {
    {kEpyc, "cores", ProcBind::kClose, 4, "0-1 2-3 4-5 6-7"},
    {kEpyc, "cores", ProcBind::kSpread, 4, "0-1 8-9 16-17 24-25"},
    {kEpyc, "cores", ProcBind::kPrimary, 3, "0-1 0-1 0-1"},
    {kEpyc, "threads", ProcBind::kClose, 5, "0 1 2 3 4"},
    {kEpyc, "threads", ProcBind::kSpread, 8, "0 4 8 12 16 20 24 28"},
    {kEpyc, "ll_caches", ProcBind::kClose, 3, "0-3 4-7 8-11"},
    {kEpyc, "ll_caches", ProcBind::kSpread, 4, "0-3 8-11 16-19 24-27"},
    {kEpyc, "numa_domains", ProcBind::kSpread, 2, "0-7 16-23"},
    {kEpyc, "numa_domains", ProcBind::kClose, 6, "0-7 8-15 8-15 16-23 24-31 24-31"},
    {kEpyc, "sockets", ProcBind::kClose, 4, "0-15 0-15 16-31 16-31"},
    {kEpyc, "sockets", ProcBind::kBound, 2, "0-15 16-31"},
    {kEpyc, "threads(6)", ProcBind::kSpread, 3, "0 2 4"},
    {kEpyc, "{0:4}:8:4", ProcBind::kSpread, 4, "0-3 8-11 16-19 24-27"},
    {kEpyc, "{1}:16:2", ProcBind::kClose, 3, "1 3 5"},
    {"two_sockets_smt.xml", "cores", ProcBind::kClose, 3, "0,8 1,9 2,10"},
    {"two_sockets_smt.xml", "cores", ProcBind::kSpread, 2, "0,8 4,12"},
    {"two_sockets_smt.xml", "threads", ProcBind::kClose, 3, "0 8 1"},
    {"two_sockets_smt.xml", "sockets", ProcBind::kSpread, 2, "0-3,8-11 4-7,12-15"},
    {"hybrid.xml", "cores", ProcBind::kClose, 6, "0-1 2-3 4 5 6 7"},
    {"hybrid.xml", "cores", ProcBind::kSpread, 3, "0-1 4 6"},
    {"hybrid.xml", "ll_caches", ProcBind::kPrimary, 2, "0-7 0-7"},
};

// 2 sockets of 2 NUMA domains of 4 cores of 2 hardware threads, with fewer and more threads than places.
constexpr const char* kDomains = "pack:2 numa:2 core:4 pu:2";

const Placement kOnDomains[] = {
    {kDomains, "sockets", ProcBind::kClose, 2, "0-15 16-31"},
    {kDomains, "sockets", ProcBind::kClose, 4, "0-15 0-15 16-31 16-31"},
    {kDomains, "sockets(1)", ProcBind::kSpread, 2, "0-15 0-15"},
    {kDomains, "numa_domains", ProcBind::kSpread, 2, "0-7 16-23"},
    {kDomains, "numa_domains", ProcBind::kClose, 2, "0-7 8-15"},
    {kDomains, "numa_domains(2)", ProcBind::kSpread, 4, "0-7 0-7 8-15 8-15"},
    {kDomains, "ll_caches", ProcBind::kPrimary, 2, "0-31 0-31"},  // a machine without caches counts as one cache
    {kDomains, "cores", ProcBind::kSpread, 4, "0-1 8-9 16-17 24-25"},
    {kDomains, "cores", ProcBind::kClose, 4, "0-1 2-3 4-5 6-7"},
    {kDomains, "cores(3)", ProcBind::kSpread, 2, "0-1 4-5"},
    {kDomains, "threads(4)", ProcBind::kClose, 8, "0 0 1 1 2 2 3 3"},
    {kDomains, "threads", ProcBind::kSpread, 2, "0 16"},
    {kDomains, "{0:8}:4:8", ProcBind::kSpread, 2, "0-7 16-23"},
    {kDomains, "{0:8}:4:8,!{8:8}", ProcBind::kClose, 3, "0-7 16-23 24-31"},
};

void check_placement(const Placement& golden) {
  SCOPED_TRACE(std::string(golden.machine) + " " + golden.places + " " + std::to_string(golden.threads));
  const bool xml = strstr(golden.machine, ".xml") != nullptr;
  const std::string path = std::string(MARLINE_TEST_DATA "/topologies/") + golden.machine;
  Topology topology;
  const char* failure = "";
  ASSERT_TRUE(topology_read_description(xml ? nullptr : golden.machine, xml ? path.c_str() : nullptr, nullptr, topology,
                                        failure))
      << failure;
  char buffer[1024];
  Text text(buffer, sizeof buffer);
  Places places;
  ASSERT_TRUE(places_parse(golden.places, topology, places, text)) << text.c_str();
  std::vector<PlaceAssignment> threads(static_cast<size_t>(golden.threads));
  places_assign(golden.policy, 0, places.count, 0, golden.threads, threads.data());
  for (const PlaceAssignment& thread : threads) {
    if (&thread != &threads[0]) text.add(" ");
    show_cpus(text, places.masks[thread.place]);
  }
  EXPECT_EQ(std::string(text.c_str()), golden.masks);
  places.free_all();
  topology_free(topology);
}

TEST(Placement, GoldenMasks) {
  for (const Placement& golden : kPlacements) check_placement(golden);
}

TEST(Placement, OnSocketsOfDomains) {
  for (const Placement& golden : kOnDomains) check_placement(golden);
}

std::string subset(const char* text) {
  Topology topology;
  const char* failure = "";
  EXPECT_TRUE(topology_read_description(kDomains, nullptr, nullptr, topology, failure)) << failure;
  char buffer[256];
  Text out(buffer, sizeof buffer);
  CpuMask mask;
  if (hw_subset(text, topology, mask, out)) show_cpus(out, mask);
  topology_free(topology);
  return out.c_str();
}

TEST(HwSubset, KeepsWhatIsNamed) {
  const std::pair<const char*, const char*> cases[] = {{"1s", "0-15"},
                                                       {"2s,1t", "0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30"},
                                                       {"1s,2c,1t", "0,2"},
                                                       {"1t,1s,2c", "0,2"},
                                                       {"2c@4", "8-11,24-27"},
                                                       {"1s@1,1c", "16-17"},
                                                       {"1n,1c", "0-1,16-17"},
                                                       {"1S, 2N, 1C@1, 2T", "2-3,10-11"},
                                                       {"*s,1n@1", "8-15,24-31"},
                                                       {":1s,3t@2", "2-4"},
                                                       {":1t@31", "31"},
                                                       {"2sockets,8cores,2threads", "0-31"}};
  for (const auto& [text, expected] : cases) EXPECT_EQ(subset(text), expected) << text;
}

TEST(HwSubset, NonsenseIsRefusedWithAReason) {
  const std::pair<const char*, const char*> cases[] = {
      {"3s", "not so many of sockets"}, {"1s,9c", "not so many of cores"},
      {"1c@8", "not so many of cores"}, {"4", "expected s, n"},
      {"1s,1s", "each once"},           {"1s@", "behind @"},
      {"1s 2c", "unexpected text"},     {"1s,", "expected s, n"},
      {"2c:eff1", "unexpected text"}};
  for (const auto& [text, expected] : cases) {
    EXPECT_NE(subset(text).find(expected), std::string::npos) << text << ": " << subset(text);
  }
}

TEST(Places, OfThisProcessCoverItsCpus) {
  options_init();
  const Places& places = process_places();
  ASSERT_GT(places.count, 0);
  EXPECT_EQ(&places, &process_places());
}

}  // namespace
}  // namespace marline
