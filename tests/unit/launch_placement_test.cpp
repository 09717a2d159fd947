// SPDX-License-Identifier: Apache-2.0
//
// Placement of ranks and workers: the decision on described machines, and what is read of this one.
#include "place/placement.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include "place/node.hpp"
#include "sysfs_tree.hpp"

namespace marline::launch {
namespace {

// Two packages of 64 cores with two hardware threads each, numbered as Linux does on most such machines.
Cores big() {
  Cores cores;
  for (int core = 0; core < 128; ++core) cores.push_back({{core, core + 128}, {core / 64, core / 64}});
  return cores;
}
const Cores kBig = big();
const Cores kSmall = {{{0}, {0, 0}}, {{1}, {0, 0}}};
const std::vector<Variable> kOnCores = {{"OMP_PLACES", "cores"}, {"OMP_PROC_BIND", "spread"}};

Cpus every_cpu(const Cores& cores) {
  Cpus all;
  for (const Core& core : cores) all.insert(core.cpus.begin(), core.cpus.end());
  return all;
}

Situation at(const Cores& cores, int rank, int ranks, std::optional<int> threads) {
  return {cores, every_cpu(cores), every_cpu(cores), rank, ranks, threads, false, {}};
}

// What each of the ranks of an unbound job decides.
std::vector<Placement> ranks_of(const Cores& cores, int ranks, std::optional<int> threads,
                                const Environment& environment = {}) {
  std::vector<Placement> all;
  for (int rank = 0; rank < ranks; ++rank) {
    Situation one = at(cores, rank, ranks, threads);
    one.environment = environment;
    all.push_back(decide(one));
  }
  return all;
}

// Each rank has whole cores of its own, as many as threads.
void expect_apart(const std::vector<Placement>& placements, const Cores& cores, size_t threads) {
  Cpus all;
  size_t sum = 0;
  for (const Placement& placement : placements) {
    ASSERT_TRUE(placement.cpus);
    const Cores mine = usable(cores, *placement.cpus);
    EXPECT_EQ(mine.size(), threads);
    EXPECT_EQ(every_cpu(mine), *placement.cpus);
    for (const Core& core : mine) EXPECT_NE(std::find(cores.begin(), cores.end(), core), cores.end());
    all.insert(placement.cpus->begin(), placement.cpus->end());
    sum += placement.cpus->size();
  }
  EXPECT_EQ(all.size(), sum);
}

TEST(Placement, NoWorkersShareACore) {
  for (auto [ranks, threads] : {std::pair(1, 128), {2, 64}, {4, 32}, {16, 8}, {128, 1}, {3, 20}, {10, 12}}) {
    const auto placements = ranks_of(kBig, ranks, threads);
    expect_apart(placements, kBig, static_cast<size_t>(threads));
    for (const Placement& placement : placements) {
      EXPECT_EQ(placement.note, "");
      EXPECT_EQ(placement.variables, threads > 1 ? kOnCores : std::vector<Variable>{});
    }
  }
}

TEST(Placement, NoRankLiesAcrossPackagesIfAllFit) {
  for (auto [ranks, threads] : {std::pair(2, 64), {3, 20}, {10, 12}, {4, 30}}) {
    for (const Cores& mine : pack(kBig, ranks, threads)) {
      for (const Core& core : mine) EXPECT_EQ(core.domain, mine[0].domain);
    }
  }
}

TEST(Placement, ARankLiesAcrossPackagesIfItMust) {
  const auto placements = ranks_of(kBig, 3, 42);
  expect_apart(placements, kBig, 42);
  const Cores mine = usable(kBig, *placements[1].cpus);
  EXPECT_NE(mine.front().domain, mine.back().domain);
}

TEST(Placement, CoresAreDividedWithoutANumberOfThreads) {
  const auto placements = ranks_of(kBig, 5, std::nullopt);
  expect_apart(placements, kBig, 25);
  for (const Placement& placement : placements) {
    EXPECT_EQ(placement.variables.back(), Variable("OMP_NUM_THREADS", "25"));
  }
}

TEST(Placement, HardwareThreadsWhenCoresDoNotSuffice) {
  const auto placements = ranks_of(kBig, 4, 64);
  Cpus all;
  for (const Placement& placement : placements) {
    EXPECT_EQ(placement.note,
              &placement == &placements[0] ? "256 workers share 128 cores, each on a hardware thread of its own" : "");
    EXPECT_EQ(placement.cpus->size(), 64u);
    EXPECT_EQ(placement.variables[0], Variable("OMP_PLACES", "threads"));
    all.insert(placement.cpus->begin(), placement.cpus->end());
  }
  EXPECT_EQ(all, every_cpu(kBig));
  EXPECT_EQ(usable(kBig, *placements[0].cpus).size(), 32u);  // siblings belong to one rank
}

TEST(Placement, TooManyWorkersShareTheCoresOfTheirRank) {
  const auto placements = ranks_of(kSmall, 2, 2);
  EXPECT_EQ(placements[0].note, "4 workers share 2 cores");
  EXPECT_EQ(placements[1].note, "");
  EXPECT_EQ(placements[0].cpus, Cpus({0}));
  EXPECT_EQ(placements[1].cpus, Cpus({1}));
  EXPECT_TRUE(placements[0].variables.empty() && placements[1].variables.empty());
}

TEST(Placement, NoCoreIsLeftOverWhereWorkersShareThem) {
  Cpus all;
  size_t sum = 0;
  for (const Placement& placement : ranks_of(kBig, 3, 128)) {
    all.insert(placement.cpus->begin(), placement.cpus->end());
    sum += placement.cpus->size();
  }
  EXPECT_EQ(all, every_cpu(kBig));
  EXPECT_EQ(sum, all.size());
}

TEST(Placement, MoreRanksThanCoresAreLeftToTheSystem) {
  const std::vector<Placement> expected = {{std::nullopt, {}, "3 workers share 2 cores"}, {}, {}};
  EXPECT_EQ(ranks_of(kSmall, 3, 1), expected);
}

TEST(Placement, HolesOfAControlGroup) {
  Cpus cpus;  // some cores are missing, of others one hardware thread
  for (int cpu : every_cpu(kBig)) {
    if (cpu % 3 != 0) cpus.insert(cpu);
  }
  for (int rank = 0; rank < 4; ++rank) {
    Situation one = at(kBig, rank, 4, 16);
    one.own = one.shared = cpus;
    const Placement placement = decide(one);
    EXPECT_TRUE(std::includes(cpus.begin(), cpus.end(), placement.cpus->begin(), placement.cpus->end()));
    EXPECT_EQ(usable(kBig, *placement.cpus).size(), 16u);
  }
}

TEST(Placement, LaunchersMasksStayIfTheySuffice) {
  Situation one = at(kBig, 1, 16, 8);
  one.own = every_cpu(Cores(kBig.begin() + 8, kBig.begin() + 16));
  EXPECT_EQ(decide(one), (Placement{std::nullopt, kOnCores, ""}));
}

TEST(Placement, OneCoreForManyThreadsIsWidened) {  // as Open MPI does with one or two ranks
  std::vector<Placement> placements;
  for (int rank = 0; rank < 2; ++rank) {
    Situation one = at(kBig, rank, 2, 16);
    one.own = every_cpu({kBig[static_cast<size_t>(rank)]});
    placements.push_back(decide(one));
  }
  expect_apart(placements, kBig, 16);
  EXPECT_TRUE(placements[0].note.starts_with("the launcher binds each rank to 1 core, too few for 16 threads"));
  EXPECT_EQ(placements[1].note, "");
}

TEST(Placement, ABatchSystemIsNotOverruled) {
  Situation one = at(kBig, 0, 2, 16);
  one.is_batch = true;
  EXPECT_EQ(decide(one), Placement());
  one.own = every_cpu(Cores(kBig.begin(), kBig.begin() + 2));
  const Placement placement = decide(one);
  EXPECT_FALSE(placement.cpus);
  EXPECT_TRUE(placement.variables.empty());
  EXPECT_TRUE(placement.note.starts_with("on each rank 16 workers share 2 cores, to which the launcher binds it"));
}

TEST(Placement, LaunchersMasksThatCannotBeWidened) {
  Situation one = at(kSmall, 0, 2, 2);
  one.own = {0};
  EXPECT_EQ(decide(one).note,
            "on each rank 2 workers share 1 core, to which the launcher binds it; ask it for 2 cores "
            "for each rank");
}

TEST(Placement, ListsOfTheUserDecideAlone) {
  for (const Variable& one :
       {Variable("OMP_PLACES", "{0},{1}"), {"GOMP_CPU_AFFINITY", "0-3"}, {"KMP_AFFINITY", "compact"}}) {
    EXPECT_EQ(ranks_of(kBig, 2, 2, Environment::of({one})), std::vector<Placement>(2));
  }
}

TEST(Placement, PoliciesOfTheUserStay) {
  for (const Variable& one :
       {Variable("OMP_PLACES", "threads"), {"OMP_PROC_BIND", "false"}, {"OMP_PROC_BIND", "close"}}) {
    const auto placements = ranks_of(kBig, 2, 2, Environment::of({one}));
    expect_apart(placements, kBig, 2);
    for (const Placement& placement : placements) EXPECT_TRUE(placement.variables.empty());
  }
}

TEST(Placement, WithoutALauncher) {
  EXPECT_EQ(decide(at(kSmall, 0, 0, 2)), Placement());
  EXPECT_EQ(decide(at(kSmall, 0, 0, 3)).note, "3 workers share 2 cores");
}

TEST(Placement, ThreadsOfNestedRegionsMultiply) {
  EXPECT_EQ(threads_in(Environment::of({{"OMP_NUM_THREADS", " 4, 2"}})), 8);
  EXPECT_EQ(threads_in(Environment::of({{"OMP_NUM_THREADS", "4,x"}})), std::nullopt);
  EXPECT_EQ(threads_in(Environment()), std::nullopt);
}

TEST(Node, TasksOfASlurmNode) {
  EXPECT_EQ(tasks_of_node("4", "0"), 4);
  EXPECT_EQ(tasks_of_node("4(x2),3", "1"), 4);
  EXPECT_EQ(tasks_of_node("4(x2),3", "2"), 3);
  EXPECT_EQ(tasks_of_node("4(x2),3", "3"), std::nullopt);
  for (const char* text : {"", "x", "4(x", "4(x)", "(x2)"}) EXPECT_EQ(tasks_of_node(text, "0"), std::nullopt) << text;
  EXPECT_EQ(tasks_of_node("4(x99999999999999999999)", "1"), 4);
}

TEST(Node, LocalRank) {
  EXPECT_EQ(local_rank(Environment()), LocalRank());
  EXPECT_EQ(local_rank(Environment::of({{"MPI_LOCALRANKID", "3"}, {"MPI_LOCALNRANKS", "8"}})),
            (LocalRank{"MPI_LOCALRANKID", 3, 8}));
  Environment slurm = Environment::of({{"SLURM_LOCALID", "1"}});
  EXPECT_EQ(local_rank(slurm), LocalRank());
  slurm.set({{"SLURM_STEP_TASKS_PER_NODE", "4,2"}, {"SLURM_NODEID", "1"}});
  EXPECT_EQ(local_rank(slurm), (LocalRank{"SLURM_LOCALID", 1, 2}));
}

// Two packages of two cores, two hardware threads each, of which one is off line.
TEST(Node, ReadsAMachinesCores) {
  SysfsTree tree;
  Cpus cpus;
  for (int cpu = 0; cpu < 7; ++cpu) {
    const std::string topology = "cpu/cpu" + std::to_string(cpu) + "/topology/";
    tree.file(topology + "physical_package_id", std::to_string(cpu % 4 / 2));
    tree.file(topology + "core_id", std::to_string(cpu % 2));
    cpus.insert(cpu);
  }
  tree.file("node/node0/cpulist", "0-1,4-5");
  tree.file("node/node1/cpulist", "2-3,6");
  const std::string system = tree.root() + "/sys/devices/system";
  const Cores expected = {{{0, 4}, {0, 0}}, {{1, 5}, {0, 0}}, {{2, 6}, {1, 1}}, {{3}, {1, 1}}};
  EXPECT_EQ(read_cores(system, cpus), expected);
  EXPECT_EQ(read_cores(system, {4}), (Cores{{{4}, {0, 0}}}));
}

TEST(Node, KnowsThisMachine) {
  const auto own = allowed_cpus(0);
  ASSERT_TRUE(own && !own->empty());
  EXPECT_EQ(every_cpu(read_cores("/sys/devices/system", *own)), *own);
  EXPECT_GE(core_count(), 1u);
  EXPECT_LE(core_count(), own->size());
}

}  // namespace
}  // namespace marline::launch
