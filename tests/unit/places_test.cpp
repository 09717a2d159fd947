// SPDX-License-Identifier: Apache-2.0
//
// platform/places.hpp: OMP_PLACES values and binding policies against golden results on machines that we do not have.
#include "platform/places.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

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
      {"{7,8},{20}", "7"},  // what is not there is left out, and so is a place that is then empty
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
      {"planets", "expected threads, cores"},  {"cores(", "positive number"},    {"cores(0)", "positive number"},
      {"cores(2", "expected )"},               {"cores,threads", "unexpected"},  {"{0", "expected }"},
      {"{}", "expected a CPU number"},         {"{0},", "expected threads"},     {"{0:0}", "positive length"},
      {"{0:2:}", "expected a stride"},         {"{0}:0", "positive length"},     {"{-1}", "expected a CPU number"},
      {"{0:3:-1}", "leaves the range"},        {"{1}:3:-1", "leaves the range"}, {"{4095}:2", "leaves the range"},
      {"{0}x", "unexpected text at \"x\""},    {"!{0}", "no place"},             {"{100}", "no place"},
      {"{0:2,!0,!1}", "no place"},             {"0,1", "expected threads"},
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
  EXPECT_EQ(assign(ProcBind::kSpread, 0, 8, 0, 3), "0@0+2 2@2+3 5@5+3");
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

TEST(Places, OfThisProcessCoverItsCpus) {
  options_init();
  const Places& places = process_places();
  ASSERT_GT(places.count, 0);
  EXPECT_EQ(&places, &process_places());
}

}  // namespace
}  // namespace marline
