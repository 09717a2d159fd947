// SPDX-License-Identifier: Apache-2.0
//
// Starts kernel threads by pthreads; counts CPUs and processes by sched_getaffinity, control groups and the launchers'
// variables.
#include "platform/thread.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <new>
#include <sched.h>
#include <unistd.h>

#include "../common/environment.h"
#include "../common/launchers.h"
#include "base/atomic.hpp"
#include "base/check.hpp"
#include "base/memory/shared_pool.hpp"
#include "../common/text.hpp"
#include "platform/control_groups.hpp"

namespace marline {
namespace {

// The data of a new thread. It is a separate block because the creator may end first. The new thread releases it.
struct Start {
  ThreadMain main;
  void* argument;
  char name[16];
};

void* thread_main(void* raw) {
  const Start start = *static_cast<Start*>(raw);
  shared_release(raw);
  pthread_setname_np(pthread_self(), start.name);
  start.main(start.argument);
  return nullptr;
}

// Signals of faults stay unblocked: a blocked SIGSEGV would kill the process without calling the program's handler.
void block_asynchronous_signals() {
  sigset_t blocked;
  sigfillset(&blocked);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS}) sigdelset(&blocked, fault);
  pthread_sigmask(SIG_SETMASK, &blocked, nullptr);
}

int set_attributes(pthread_attr_t& attributes, size_t stack_bytes, const CpuMask* mask, bool detached) {
  if (detached) pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  if (mask != nullptr) {
    const auto* set = reinterpret_cast<const cpu_set_t*>(mask->words);
    if (const int error = pthread_attr_setaffinity_np(&attributes, sizeof mask->words, set); error != 0) return error;
  }
  if (stack_bytes == 0) return 0;
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t smallest = static_cast<size_t>(sysconf(_SC_THREAD_STACK_MIN));
  if (stack_bytes < smallest) stack_bytes = smallest;
  return pthread_attr_setstacksize(&attributes, (stack_bytes + page - 1) & ~(page - 1));
}

bool create(pthread_t& thread, const char* name, ThreadMain main, void* argument, size_t stack_bytes,
            const CpuMask* mask, bool detached, Signals signals) {
  auto* start = new (shared_allocate(sizeof(Start))) Start{main, argument, {}};
  strncpy(start->name, name, sizeof start->name - 1);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  int error = set_attributes(attributes, stack_bytes, mask, detached);
  if (error == 0) {
    sigset_t before;
    pthread_sigmask(SIG_SETMASK, nullptr, &before);
    if (signals == Signals::kFaultsOnly) block_asynchronous_signals();
    error = pthread_create(&thread, &attributes, thread_main, start);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  pthread_attr_destroy(&attributes);
  if (error == 0) return true;
  shared_release(start);
  errno = error;
  return false;
}

constexpr size_t kPath = 512;  // for groups with a longer path, the mount point is used

// The first line of a file, or an empty string.
void read_line(const char* path, char* line, int size) {
  line[0] = '\0';
  FILE* file = fopen(path, "re");
  if (file == nullptr) return;
  if (fgets(line, size, file) == nullptr) line[0] = '\0';
  fclose(file);
}

int64_t read_number(const char* path) {
  char line[64];
  read_line(path, line, sizeof line);
  int64_t value;
  return Cursor(line).accept_number(INT64_MIN, INT64_MAX, value) ? value : -1;
}

// The group's own quota in CPUs; 0: none. `version`: 1 or 2, of the interface.
int quota_of_group(const char* directory, int version) {
  char path[kPath + sizeof "/cpu.cfs_period_us"];
  if (version == 2) {
    char line[64];
    snprintf(path, sizeof path, "%s/cpu.max", directory);
    read_line(path, line, sizeof line);
    return line[0] != '\0' ? quota_cpus(line) : 0;
  }
  snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", directory);
  const int64_t quota = read_number(path);  // -1 is no limit
  snprintf(path, sizeof path, "%s/cpu.cfs_period_us", directory);
  const int64_t period = read_number(path);
  return quota > 0 && period > 0 ? static_cast<int>((quota + period - 1) / period) : 0;
}

// The smallest quota of the groups from `mount`/`group` up to the mount point, which in a container is the container's
// group.
int least_quota(const char* mount, const char* group, int version) {
  char directory[kPath];
  const size_t root = strlen(mount);
  if (strcmp(group, "/") == 0) group = "";
  if (static_cast<size_t>(snprintf(directory, sizeof directory, "%s%s", mount, group)) >= sizeof directory) {
    snprintf(directory, sizeof directory, "%s", mount);
  }
  int least = 0;
  for (;;) {
    const int quota = quota_of_group(directory, version);
    if (quota > 0 && (least == 0 || quota < least)) least = quota;
    char* slash = strrchr(directory, '/');
    if (strlen(directory) <= root || slash == nullptr) return least;
    *slash = '\0';
  }
}

// Read once: it takes some ten files.
int control_group_cpus() {
  // -1 until the first call. Threads that race store the same value.
  static Atomic<int> cached{-1};
  int cpus = cached.load(relaxed);
  if (cpus < 0) {
    cpus = control_group_cpus_in("/sys/fs/cgroup", "/proc/self/cgroup");
    cached.store(cpus, relaxed);
  }
  return cpus;
}

const char* from_environment(const char* name) { return trusted_variable(name); }

}  // namespace

bool thread_start_detached(const char* name, ThreadMain main, void* argument, size_t stack_bytes, const CpuMask* mask,
                           Signals signals, pthread_t* thread) {
  pthread_t unnamed;
  return create(thread != nullptr ? *thread : unnamed, name, main, argument, stack_bytes, mask, true, signals);
}

bool thread_start(pthread_t& thread, const char* name, ThreadMain main, void* argument, size_t stack_bytes,
                  const CpuMask* mask) {
  return create(thread, name, main, argument, stack_bytes, mask, false, Signals::kFaultsOnly);
}

void thread_join(pthread_t thread) {
  if (const int error = pthread_join(thread, nullptr); error != 0) fatal("cannot join a thread: %s", strerror(error));
}

bool thread_bind_self(const CpuMask& mask) {
  return sched_setaffinity(0, sizeof mask.words, reinterpret_cast<const cpu_set_t*>(mask.words)) == 0;
}

CpuMask thread_affinity() {
  CpuMask mask;
  if (sched_getaffinity(0, sizeof mask.words, reinterpret_cast<cpu_set_t*>(mask.words)) != 0) {
    fatal("cannot read the CPU affinity: %s; Marline handles up to %d CPUs", strerror(errno), CpuMask::kCpus);
  }
  return mask;
}

int usable_cpus() {
  const int bound = thread_affinity().count();
  const int quota = control_group_cpus();
  return quota > 0 && quota < bound ? quota : bound;
}

int control_group_cpus_in(const char* mount, const char* membership) {
  char controller_list[kPath], version_1[kPath];
  snprintf(version_1, sizeof version_1, "%s/cpu", mount);
  int least = 0;
  bool seen_1 = false, seen_2 = false;  // least_quota has looked at the mount point itself
  const auto take = [&least](int quota) {
    if (quota > 0 && (least == 0 || quota < least)) least = quota;
  };
  for_control_groups(membership, [&](const char* controllers, const char* path) {
    snprintf(controller_list, sizeof controller_list, "%s,", controllers);
    const bool version_2 = controllers[0] == '\0';
    if (!version_2 && strstr(controller_list, "cpu,") == nullptr) return;
    (version_2 ? seen_2 : seen_1) = true;
    take(least_quota(version_2 ? mount : version_1, path, version_2 ? 2 : 1));
  });
  if (!seen_2) take(least_quota(mount, "", 2));
  if (!seen_1 && least == 0) take(least_quota(version_1, "", 1));
  return least;
}

int quota_cpus(const char* cpu_max_text) {
  Cursor in(cpu_max_text);
  int64_t quota;
  int64_t period;
  if (!in.accept_number(1, INT64_MAX / 2, quota) || !in.accept_number(1, INT64_MAX / 2, period)) return 0;
  // Rounded up: a quota of 1.5 CPUs means two threads.
  const int64_t cpus = (quota + period - 1) / period;
  return cpus < CpuMask::kCpus ? static_cast<int>(cpus) : CpuMask::kCpus;
}

int local_processes_from(const char* (*lookup)(const char* name)) {
  // Of Slurm's list for all nodes, the first entry is used, as this node's number is not known. Flux has no variable.
  int64_t ranks = 0;
  for (const LauncherLocalRank& launcher : launcher_local_ranks) {
    const char* value = lookup(launcher.ranks);
    if (value != nullptr && Cursor(value).accept_number(1, CpuMask::kCpus, ranks)) break;
  }
  const char* asked = lookup("SLURM_NTASKS_PER_NODE");  // of a job that has no such step
  if (ranks == 0 && asked != nullptr) (void)Cursor(asked).accept_number(1, CpuMask::kCpus, ranks);
  // `marline run` starts a program and its worker processes on one machine; a rank may have some of them for itself.
  int64_t job = 1;
  const char* value = lookup("MARLINE_JOB_COUNT");
  if (value != nullptr) (void)Cursor(value).accept_number(1, CpuMask::kCpus, job);
  const int64_t all = (ranks > 0 ? ranks : 1) * (job > 0 ? job : 1);
  return all < CpuMask::kCpus ? static_cast<int>(all) : CpuMask::kCpus;
}

int local_processes() { return local_processes_from(from_environment); }

// A launcher that binds its ranks gives each fewer CPUs than the node has: they are only this process's. If it binds
// nothing, all ranks see the same CPUs and share them.
int share_of_node(int usable, int online, int ranks) {
  if (usable < online || ranks <= 1) return usable > 0 ? usable : 1;
  return usable / ranks > 0 ? usable / ranks : 1;
}

// Bound processes have their own CPUs, unless there are more processes than CPUs: then some share a CPU, however they
// are bound.
bool shares_cores(int bound, int online, int usable, int ranks) { return ranks > (bound >= online ? usable : online); }

bool shares_cores() {
  // Below 0 until the first call. Threads that race store the same value.
  static Atomic<int> cached{-1};
  int shares = cached.load(relaxed);
  if (shares < 0) {
    const int online = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
    shares = shares_cores(thread_affinity().count(), online, usable_cpus(), local_processes()) ? 1 : 0;
    cached.store(shares, relaxed);
  }
  return shares != 0;
}

int cores_per_process() {
  // 0 until the first call. Threads that race store the same value.
  static Atomic<int> cached{0};
  int cores = cached.load(relaxed);
  if (cores == 0) {
    const int online = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
    cores = share_of_node(thread_affinity().count(), online, local_processes());
    const int quota = control_group_cpus();
    if (quota > 0 && quota < cores) cores = quota;
    cached.store(cores, relaxed);
  }
  return cores;
}

}  // namespace marline
