// SPDX-License-Identifier: Apache-2.0
//
// Which GPU a rank gets: what launchers' variables say, where CPUs lie in a domain, and the choice.
#include "base/share.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace marline::offload {
namespace {

std::map<std::string, std::string> g_variables;

const char* lookup(const char* name) {
  auto found = g_variables.find(name);
  return found != g_variables.end() ? found->second.c_str() : nullptr;
}

std::string rank_with(std::map<std::string, std::string> variables) {
  g_variables = std::move(variables);
  const RankPlace place = rank_from(lookup);
  return std::to_string(place.rank) + "/" + std::to_string(place.ranks);
}

TEST(Share, Launchers) {
  EXPECT_EQ(rank_with({}), "0/0");
  EXPECT_EQ(rank_with({{"OMPI_COMM_WORLD_LOCAL_RANK", "1"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}}), "1/4");
  EXPECT_EQ(rank_with({{"MPI_LOCALRANKID", "3"}, {"MPI_LOCALNRANKS", "4"}}), "3/4");
  EXPECT_EQ(rank_with({{"SLURM_LOCALID", "2"}, {"SLURM_STEP_TASKS_PER_NODE", "4"}}), "2/4");
  EXPECT_EQ(rank_with({{"SLURM_LOCALID", "2"}, {"SLURM_STEP_TASKS_PER_NODE", "4(x2),3"}, {"SLURM_NODEID", "2"}}),
            "2/3");
  EXPECT_EQ(rank_with({{"SLURM_LOCALID", "3"}, {"SLURM_STEP_TASKS_PER_NODE", "4(x2),3"}, {"SLURM_NODEID", "1"}}),
            "3/4");
  EXPECT_EQ(rank_with({{"SLURM_LOCALID", "0"}, {"SLURM_STEP_TASKS_PER_NODE", "4"}, {"SLURM_NODEID", "5"}}), "0/0");
  EXPECT_EQ(rank_with({{"SLURM_LOCALID", "0"}, {"SLURM_STEP_TASKS_PER_NODE", "4(x"}}), "0/0");
  EXPECT_EQ(rank_with({{"MPI_LOCALRANKID", "4"}, {"MPI_LOCALNRANKS", "4"}}), "0/0");
  EXPECT_EQ(rank_with({{"MPI_LOCALRANKID", "-1"}, {"MPI_LOCALNRANKS", "x"}}), "0/0");
  EXPECT_EQ(rank_with({{"MPI_LOCALRANKID", "1"}}), "0/0");
}

int slot(const std::vector<int>& cpus, const std::vector<int>& domain) {
  return slot_in(cpus.data(), static_cast<int>(cpus.size()), domain.data(), static_cast<int>(domain.size()));
}

TEST(Share, Slots) {
  const std::vector<int> domain = {0,  1,  2,  3,  4,  5,  6,  7,
                                   16, 17, 18, 19, 20, 21, 22, 23};  // hardware threads with distant numbers
  EXPECT_EQ(slot({0, 1, 2, 3}, domain), 0);
  EXPECT_EQ(slot({4, 5, 6, 7}, domain), 1);
  EXPECT_EQ(slot({4, 5, 6, 7, 20, 21, 22, 23}, domain), 1);
  EXPECT_EQ(slot({3}, domain), 3);
  EXPECT_EQ(slot({3, 19}, domain), 3);
  EXPECT_EQ(slot(domain, domain), 0);
  EXPECT_EQ(slot({7, 8}, domain), -1);
  EXPECT_EQ(slot({}, domain), -1);
  EXPECT_EQ(slot({1}, {}), -1);
}

std::string shares(int ranks, const std::vector<RankPlace>& places, const std::vector<int>& domains) {
  std::vector<DeviceFacts> devices;
  for (int domain : domains) {
    DeviceFacts facts = {};
    facts.is_gpu = true;
    facts.numa_domain = domain;
    devices.push_back(facts);
  }
  std::string list;
  for (int rank = 0; rank < ranks; ++rank) {
    RankPlace place = places[static_cast<size_t>(rank)];
    place.rank = rank;
    place.ranks = ranks;
    list += (rank > 0 ? " " : "") + std::to_string(share_of(place, devices.data(), static_cast<int>(devices.size())));
  }
  return list;
}

RankPlace at(int domain, int slot) { return {0, 0, domain, slot}; }

TEST(Share, NearestFirst) {
  EXPECT_EQ(shares(4, {at(0, 0), at(0, 1), at(1, 0), at(1, 1)}, {0, 0, 1, 1}), "0 1 2 3");
  EXPECT_EQ(shares(4, {at(0, 0), at(1, 0), at(0, 1), at(1, 1)}, {0, 0, 1, 1}), "0 2 1 3");
  EXPECT_EQ(shares(4, {at(0, 0), at(0, 1), at(1, 0), at(1, 1)}, {1, 1, 0, 0}), "2 3 0 1");
  EXPECT_EQ(shares(4, {at(0, 0), at(0, 1), at(0, 2), at(1, 0)}, {0, 0, 1, 1}), "0 1 0 2");
}

TEST(Share, ThenByRank) {
  EXPECT_EQ(shares(4, {at(-1, 0), at(-1, 0), at(-1, 0), at(-1, 0)}, {0, 0, 1, 1}), "0 1 2 3");
  EXPECT_EQ(shares(3, {at(0, 0), at(0, 0), at(0, 0)}, {-1, -1}), "0 1 0");
  EXPECT_EQ(shares(2, {at(0, 0), at(0, 0)}, {0, 0}), "0 1");
  EXPECT_EQ(shares(2, {at(2, 0), at(2, 5)}, {0, 1}), "0 1");
  EXPECT_EQ(shares(1, {at(0, 0)}, {0, 1}), "-1");
  EXPECT_EQ(shares(2, {at(0, 0), at(0, 1)}, {0}), "-1 -1");
}

TEST(Share, GpusOnly) {
  DeviceFacts devices[3] = {};
  devices[0].is_gpu = devices[2].is_gpu = true;
  EXPECT_EQ(share_of({1, 2, -1, 0}, devices, 3), 2);
}

}  // namespace
}  // namespace marline::offload
