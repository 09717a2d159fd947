// SPDX-License-Identifier: Apache-2.0
//
// platform/thread.hpp: name, mask, stack and signals of a thread that Marline starts; counts from fixed inputs.
#include "platform/refusal.hpp"
#include "platform/thread.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "base/futex.hpp"

namespace marline {
namespace {

struct Seen {
  char name[16] = "";
  CpuMask mask;
  size_t stack_bytes = 0;
  bool user_signal_blocked = false;
  bool fault_blocked = true;
  Atomic<uint32_t> done{0};
};

void look(void* argument) {
  Seen& seen = *static_cast<Seen*>(argument);
  pthread_getname_np(pthread_self(), seen.name, sizeof seen.name);
  seen.mask = thread_affinity();
  pthread_attr_t attributes;
  pthread_getattr_np(pthread_self(), &attributes);
  void* base = nullptr;
  pthread_attr_getstack(&attributes, &base, &seen.stack_bytes);
  pthread_attr_destroy(&attributes);
  sigset_t blocked;
  pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  seen.user_signal_blocked = sigismember(&blocked, SIGUSR1) == 1;
  seen.fault_blocked = sigismember(&blocked, SIGSEGV) == 1;
  seen.done.store(1, release);
  futex_wake(seen.done, 1);
}

TEST(Thread, GetsNameMaskStackAndQuietSignals) {
  CpuMask one;
  one.set(thread_affinity().first());
  Seen seen;
  pthread_t thread;
  ASSERT_TRUE(thread_start(thread, "marline/7", look, &seen, 3 << 20, &one));
  thread_join(thread);
  EXPECT_STREQ(seen.name, "marline/7");
  EXPECT_EQ(seen.mask, one);
  EXPECT_GE(seen.stack_bytes, size_t{3} << 20);
  EXPECT_TRUE(seen.user_signal_blocked);
  EXPECT_FALSE(seen.fault_blocked);
  sigset_t blocked;
  pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  EXPECT_EQ(sigismember(&blocked, SIGUSR1), 0);  // the starter's own mask is as before
}

TEST(Thread, DetachedRunsAndLongNamesAreCut) {
  Seen seen;
  ASSERT_TRUE(thread_start_detached("marline/a-very-long-name", look, &seen));
  while (seen.done.load(acquire) == 0) futex_wait(seen.done, 0);
  EXPECT_STREQ(seen.name, "marline/a-very-");
  EXPECT_EQ(seen.mask, thread_affinity());
}

TEST(Thread, ImpossibleMaskIsRefused) {
  CpuMask nowhere;
  Seen seen;
  pthread_t thread;
  EXPECT_FALSE(thread_start(thread, "marline/0", look, &seen, 0, &nowhere));
  EXPECT_FALSE(thread_bind_self(nowhere));
  EXPECT_FALSE(thread_affinity().empty());
}

TEST(Counts, Quota) {
  EXPECT_EQ(quota_cpus("max 100000\n"), 0);
  EXPECT_EQ(quota_cpus("200000 100000\n"), 2);
  EXPECT_EQ(quota_cpus("150000 100000\n"), 2);
  EXPECT_EQ(quota_cpus("1000 100000\n"), 1);
  EXPECT_EQ(quota_cpus(""), 0);
  EXPECT_EQ(quota_cpus("100000"), 0);
}

std::map<std::string, std::string> environment;
const char* lookup(const char* name) {
  const auto found = environment.find(name);
  return found == environment.end() ? nullptr : found->second.c_str();
}

// A tree of files in a directory of its own, gone at the end.
class Files {
 public:
  Files() : root_(std::filesystem::path(testing::TempDir()) / ("groups." + std::to_string(getpid()))) {}
  ~Files() { std::filesystem::remove_all(root_); }
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;
  [[nodiscard]] std::string path(const std::string& name) const { return root_ / name; }
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
    std::ofstream(path(name)) << text;
  }
  [[nodiscard]] long reached_limit(const std::string& membership) const {
    write("membership", membership);
    return reached_pids_limit(root_.c_str(), path("membership").c_str());
  }
  [[nodiscard]] int quota(const std::string& membership) const {
    write("membership", membership);
    return control_group_cpus_in(root_.c_str(), path("membership").c_str());
  }

 private:
  std::filesystem::path root_;
};

TEST(Counts, ThreadsOfTheRealUser) {
  const Files files;
  files.write("proc/10/status", "Name:\ta\nUid:\t1000\t0\t0\t0\nThreads:\t7\n");
  files.write("proc/11/status", "Name:\tThreads:\nUid:\t0\t1000\t1000\t1000\nThreads:\t100\n");
  files.write("proc/12/status", "Name:\tb\nUid:\t1000\t1000\t1000\t1000\nThreads:\t2\n");
  files.write("proc/sys/status", "Name:\tb\nUid:\t1000\t1000\t1000\t1000\nThreads:\t2\n");
  EXPECT_EQ(threads_of_user(files.path("proc").c_str(), 1000), 9);
  EXPECT_EQ(threads_of_user(files.path("proc").c_str(), 1), 0);
  EXPECT_EQ(threads_of_user(files.path("none").c_str(), 1000), 0);
}

TEST(Counts, TheLeastQuotaOfTheGroupsAroundHolds) {
  const Files files;
  EXPECT_EQ(files.quota("0::/\n"), 0);
  files.write("slice/job/cpu.max", "300000 100000\n");
  files.write("slice/cpu.max", "500000 100000\n");
  files.write("free/cpu.max", "max 100000\n");
  EXPECT_EQ(files.quota("0::/\n"), 0);
  EXPECT_EQ(files.quota("0::/slice\n"), 5);
  EXPECT_EQ(files.quota("0::/slice/job\n"), 3);
  EXPECT_EQ(files.quota("0::/slice/job/step\n"), 3);
  EXPECT_EQ(files.quota("0::/free\n"), 0);
  files.write("cpu.max", "200000 100000\n");  // a container's
  EXPECT_EQ(files.quota("0::/slice/job\n"), 2);
  EXPECT_EQ(files.quota("nonsense"), 2);
  EXPECT_EQ(control_group_cpus_in(files.path("nowhere").c_str(), "/nonexistent"), 0);
}

TEST(Refusal, ControlGroupThatHasAllItsThreads) {
  const Files files;
  files.write("slice/job/pids.max", "100\n");
  files.write("slice/job/pids.current", "99\n");
  files.write("slice/pids.max", "max\n");
  EXPECT_EQ(files.reached_limit("0::/slice/job\n"), 0);
  files.write("slice/job/pids.current", "100\n");
  EXPECT_EQ(files.reached_limit("0::/slice/job\n"), 100);
  EXPECT_EQ(files.reached_limit("0::/slice/job/step\n"), 100);
  EXPECT_EQ(files.reached_limit("0::/slice\n"), 0);
  EXPECT_EQ(files.reached_limit("nonsense"), 0);
  files.write("pids/old/pids.max", "7\n");
  files.write("pids/old/pids.current", "7\n");
  EXPECT_EQ(files.reached_limit("9:pids:/old\n8:cpu:/slice/job\n"), 7);
}

TEST(Refusal, SaysWhatIsTrue) {
  const Refusal memory(ENOMEM, 1 << 20);
  EXPECT_FALSE(memory.is_of_number());
  EXPECT_NE(std::string(memory.help()).find("stack"), std::string::npos);
  const Refusal number(EAGAIN, 1 << 20);  // a mebibyte can be mapped, so memory is not the reason
  EXPECT_TRUE(number.is_of_number());
  EXPECT_EQ(std::string(number.cause()).find("emory"), std::string::npos);
  EXPECT_FALSE(Refusal(EAGAIN, size_t{1} << 62).is_of_number());
}

TEST(Counts, QuotaOfTheFirstInterface) {
  const Files files;
  files.write("cpu/batch/cpu.cfs_quota_us", "250000\n");
  files.write("cpu/batch/cpu.cfs_period_us", "100000\n");
  files.write("cpu/batch/free/cpu.cfs_quota_us", "-1\n");
  files.write("cpu/batch/free/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(files.quota("5:cpuset:/batch\n4:memory:/batch\n"), 0);
  EXPECT_EQ(files.quota("5:cpuset:/\n4:cpu,cpuacct:/batch\n"), 3);
  EXPECT_EQ(files.quota("4:cpuacct,cpu:/batch/free\n"), 3);
}

TEST(Counts, LocalProcessesOfEachLauncher) {
  environment = {};
  EXPECT_EQ(local_processes_from(lookup), 1);
  environment = {{"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}};
  EXPECT_EQ(local_processes_from(lookup), 4);
  environment = {{"MPI_LOCALNRANKS", "2"}};
  EXPECT_EQ(local_processes_from(lookup), 2);
  environment = {{"SLURM_NTASKS_PER_NODE", "8"}};
  EXPECT_EQ(local_processes_from(lookup), 8);
  environment = {{"SLURM_STEP_TASKS_PER_NODE", "3(x2),1"}};
  EXPECT_EQ(local_processes_from(lookup), 3);
  environment = {{"OMPI_COMM_WORLD_LOCAL_SIZE", "0"}, {"MPI_LOCALNRANKS", "junk"}};
  EXPECT_EQ(local_processes_from(lookup), 1);
  environment = {{"MARLINE_JOB_COUNT", "3"}};
  EXPECT_EQ(local_processes_from(lookup), 3);
  environment = {{"MARLINE_JOB_COUNT", "3"}, {"MPI_LOCALNRANKS", "2"}};  // two workers for each of two ranks
  EXPECT_EQ(local_processes_from(lookup), 6);
  environment = {{"MARLINE_JOB_COUNT", "0"}};
  EXPECT_EQ(local_processes_from(lookup), 1);
}

TEST(Counts, RanksShareWhatIsNotBound) {
  EXPECT_EQ(share_of_node(16, 16, 1), 16);
  EXPECT_EQ(share_of_node(16, 16, 4), 4);
  EXPECT_EQ(share_of_node(16, 16, 5), 3);
  EXPECT_EQ(share_of_node(2, 2, 8), 1);
  EXPECT_EQ(share_of_node(4, 16, 4), 4);  // bound by the launcher: all its own
  EXPECT_EQ(share_of_node(0, 1, 1), 1);
  EXPECT_TRUE(shares_cores(2, 2, 2, 8));
  EXPECT_FALSE(shares_cores(8, 8, 8, 8));
  EXPECT_TRUE(shares_cores(8, 8, 2, 4));   // by the control group's quota
  EXPECT_FALSE(shares_cores(1, 8, 1, 8));  // bound by the launcher
  EXPECT_TRUE(shares_cores(1, 2, 1, 8));   // bound by the launcher, too, but there are no eight CPUs
  EXPECT_GE(cores_per_process(), 1);
  EXPECT_GE(usable_cpus(), 1);
  EXPECT_LE(cores_per_process(), usable_cpus());
}

}  // namespace
}  // namespace marline
