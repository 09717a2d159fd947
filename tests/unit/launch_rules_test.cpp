// SPDX-License-Identifier: Apache-2.0
//
// The rules of the launcher that are functions of texts: options, variables of launchers, the loader's listing, the
// proof, lists of devices.
#include <gtest/gtest.h>

#include <csignal>

#include "base/file.hpp"
#include "base/report.hpp"
#include "base/text.hpp"
#include "process/child.hpp"
#include "program/loader.hpp"
#include "start/devices.hpp"
#include "start/launcher.hpp"
#include "start/mpi.hpp"
#include "start/options.hpp"
#include "start/proof.hpp"
#include "start/served.hpp"

namespace marline::launch {
namespace {

TEST(Text, NumbersHaveDigitsOnly) {
  EXPECT_EQ(decimal("12"), 12);
  EXPECT_EQ(decimal("99999999999999999999"), INT_MAX);
  for (const char* text : {"", "-1", "+1", "1.0", " 1", "0x1", "\xd9\xa1"}) EXPECT_EQ(decimal(text), std::nullopt);
}

TEST(Text, ShellsTakeQuotedWordsBack) {
  EXPECT_EQ(shell_quoted(Words{"a-b/c", "", "d e", "it's", "$x"}), R"(a-b/c '' 'd e' 'it'"'"'s' '$x')");
}

TEST(Text, PathsAreMadeAbsoluteAsText) {
  EXPECT_EQ(absolute("/a//b/./../c/"), "/a/c");
  EXPECT_EQ(absolute("/../.."), "/");
  EXPECT_TRUE(absolute("x").ends_with("/x"));
}

TEST(Options, InFull) {
  const auto options = parse({"-t", "2", "--np", "3", "--mpi=mpich", "--no-bind", "--devices", "host:2",
                              "--nodes-as=", "--", "-app", "-t", "", "--"});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->threads, 2);
  EXPECT_EQ(options->ranks, 3);
  EXPECT_EQ(options->mpi, "mpich");
  EXPECT_TRUE(options->no_bind);
  EXPECT_EQ(options->devices, "host:2");
  EXPECT_EQ(options->program, "-app");
  EXPECT_EQ(options->arguments, Words({"-t", "", "--"}));
}

TEST(Options, WhatIsNotInFullIsLeftToTheOtherHalf) {
  for (const Words& words : std::vector<Words>{{},
                                               {"-t"},
                                               {"-t", "2"},
                                               {"-t", "0", "app"},
                                               {"-t", "-1", "app"},
                                               {"--thr", "2", "app"},
                                               {"--mpi", "lam", "app"},
                                               {"-h"},
                                               {"--help"},
                                               {"--bogus", "app"},
                                               {"-t2", "app"},
                                               {"--"}}) {
    EXPECT_FALSE(parse(words)) << join(words, " ");
  }
  EXPECT_TRUE(parse({""}));  // a program without a name, which is refused later
  EXPECT_TRUE(parse({"-"}));
}

TEST(Mpi, WhichProcessIsARank) {
  const auto rank = [](const std::vector<Variable>& variables) { return rank_in(Environment::of(variables)); };
  EXPECT_EQ(rank({{"OMPI_COMM_WORLD_RANK", "2"}, {"PMIX_RANK", "2"}}), "2");
  EXPECT_EQ(rank({{"PMIX_RANK", "1"}, {"SLURM_PROCID", "1"}, {"SLURM_STEP_NUM_TASKS", "4"}}), "1");
  EXPECT_EQ(rank({{"PMIX_RANK", "1"}}), "1");
  EXPECT_EQ(rank({{"SLURM_PROCID", "3"}, {"SLURM_STEP_NUM_TASKS", "4"}}), "3");
  // A shell, and a batch script.
  EXPECT_EQ(rank({{"PMIX_RANK", "0"}, {"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}}), std::nullopt);
  EXPECT_EQ(rank({{"SLURM_PROCID", "0"}}), std::nullopt);
}

TEST(Mpi, TheOthersLauncher) {
  EXPECT_EQ(started_by_other("openmpi", Environment::of({{"PMI_RANK", "0"}})), "mpich");
  EXPECT_EQ(started_by_other("mpich", Environment::of({{"OMPI_COMM_WORLD_RANK", "0"}})), "openmpi");
  EXPECT_EQ(started_by_other("standard", Environment::of({{"PMI_RANK", "0"}})), "");
  EXPECT_EQ(started_by_other("openmpi", Environment::of({{"PMI_RANK", "0"}, {"SLURM_MPI_TYPE", "pmi2"}})), "");
  EXPECT_EQ(started_by_other("openmpi", Environment()), "");
}

TEST(Slurm, ItsWayOfTracking) {
  EXPECT_TRUE(is_tracked_by_cgroup("12:freezer:/slurm/uid_0/job_3/step_0\n3:cpuset:/slurm/uid_0/job_3/step_0\n"));
  EXPECT_FALSE(is_tracked_by_cgroup("12:freezer:/\n3:cpuset:/slurm/uid_0/job_3/step_0\n"));
  EXPECT_TRUE(is_tracked_by_cgroup("0::/system.slice/slurmstepd.scope/job_3/step_0/user/task_0\n"));
  EXPECT_FALSE(is_tracked_by_cgroup("0::/user.slice\n"));
  EXPECT_FALSE(is_tracked_by_cgroup(""));
}

TEST(Loader, ItsListing) {
  const Listing listing = read_listing(
      "\tlinux-vdso.so.1 (0x00007ffd)\n\tlibm.so.6 => /lib/a b/libm.so.6 (0x00007f)\n"
      "\tlibgone.so => not found\n\t/lib64/ld-linux-x86-64.so.2 (0x00007f)\n=> \n");
  ASSERT_EQ(listing.loaded.size(), 1u);
  EXPECT_EQ(listing.loaded[0], std::pair(std::string("libm.so.6"), std::string("/lib/a b/libm.so.6")));
  EXPECT_EQ(listing.missing, Words({"libgone.so"}));
  EXPECT_FALSE(listing.too_old);
  const auto too_old =
      read_listing("./app: /lib/libm.so.6: version `GLIBC_2.38' not found (required by ./app)\n").too_old;
  ASSERT_TRUE(too_old);
  EXPECT_EQ(too_old->file, "/lib/libm.so.6");
  EXPECT_EQ(too_old->version, "GLIBC_2.38");
  EXPECT_EQ(too_old->needed_by, "./app");
}

TEST(Served, TheCallersPreloadsComeFirst) {
  EXPECT_EQ(preloads({"/m.so"}, Environment::of({{"LD_PRELOAD", "/a.so:/m.so /b.so"}})), "/a.so:/b.so:/m.so");
  EXPECT_EQ(preloads({"/m.so"}, Environment()), "/m.so");
}

TEST(Proof, IsJudged) {
  const std::string ours = "/proc/self/exe";
  const auto complaint = [&](const Words& records, int status) { return judge(records, status, "app", ours); };
  EXPECT_EQ(complaint({"loaded\t" + ours}, 3 << 8), std::nullopt);
  EXPECT_NE(complaint({}, 0)->find("ended (status 0) without ever loading Marline"), std::string::npos);
  EXPECT_NE(complaint({}, 3 << 8)->find("ended (status 3) without ever loading Marline"), std::string::npos);
  EXPECT_NE(complaint({}, SIGSEGV)->find("ended (signal 11) without ever loading Marline"), std::string::npos);
  EXPECT_EQ(complaint({}, SIGTERM), std::nullopt);   // somebody stopped it, perhaps before it was loaded
  EXPECT_EQ(complaint({}, 127 << 8), std::nullopt);  // the loader has said why
  EXPECT_NE(complaint({"loaded\t/bin/sh"}, 0)->find("ran on /bin/sh, not on"), std::string::npos);
  EXPECT_EQ(complaint({"loaded\t" + ours, "refused\tsome reason"}, 0), "");  // the process has said why
}

TEST(Proof, IsThatOfTheProgramThatUsesOpenMp) {
  Elf app, other;
  app.path = "/proc/self/exe", other.path = "/bin/sh";
  const auto told = [](const Words& records, int status, const std::vector<Elf>& started) {
    return tell_of_unserved(records, status, "env", started);
  };
  const Words served = {"loaded\t/lib/libmarline.so", "uses\t/proc/self/exe"};
  EXPECT_EQ(told(served, 3 << 8, {app}), std::nullopt);
  EXPECT_EQ(told(served, 0, {}), std::nullopt);
  EXPECT_NE(told(served, 0, {app, other})->find("/bin/sh uses OpenMP, but no process of it"), std::string::npos);
  EXPECT_NE(told({}, 3 << 8, {app})->find("env may clear LD_PRELOAD"), std::string::npos);
  EXPECT_NE(told({}, 0, {})->find("no process of env has used OpenMP on Marline"), std::string::npos);
  EXPECT_EQ(told({}, SIGTERM, {app}), std::nullopt);
  Elf by_its_loader;
  by_its_loader.path = "/bin/sh", by_its_loader.interpreter = "/proc/self/exe";
  EXPECT_EQ(told(served, 0, {by_its_loader}), std::nullopt);
}

std::string refused(const std::string& devices) {
  try {
    own_workers(devices);
    return "";
  } catch (const Refusal& refusal) {
    return refusal.text;
  }
}

TEST(Devices, WorkersOfAProgram) {
  EXPECT_EQ(own_workers("process,nodes:3").count, 3);
  EXPECT_EQ(own_workers("process,nodes:3").devices, "process,nodes");
  EXPECT_EQ(own_workers("cluster:gpu").count, 0);
  EXPECT_EQ(own_workers("").devices, "");
  EXPECT_NE(refused("nodes:256").find("'nodes:256' needs a number from 1 to 255"), std::string::npos);
  EXPECT_NE(refused("nodes,cluster:2").find("names nodes twice"), std::string::npos);
  EXPECT_NE(refused("host:0").find("'host:0' needs a number from 1 to 256"), std::string::npos);
  EXPECT_NE(refused("none,host").find("no device is named 'none'"), std::string::npos);
  EXPECT_EQ(refused("none"), "");
}

TEST(Devices, MadeUpNodes) {
  EXPECT_EQ(named_nodes("apart", 3), "0,1,2");
  EXPECT_EQ(named_nodes("0,0", 2), "0,0");
}

}  // namespace
}  // namespace marline::launch
