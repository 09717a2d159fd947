// SPDX-License-Identifier: Apache-2.0
//
// Finds the cause of a refusal. It is rare and reported once, so the system's files are read each time.
#include "platform/refusal.hpp"

#include <dirent.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/memory/memory_limit.hpp"
#include "platform/control_groups.hpp"

namespace marline {

namespace {

constexpr size_t kPath = 512;  // for groups with a longer path, the mount point is used

// -1: no such file, or it has no number ("max").
long number_in(const char* directory, const char* name) {
  char path[kPath + 32];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  FILE* file = fopen(path, "re");
  long value = -1;
  if (file == nullptr) return value;
  if (fscanf(file, "%ld", &value) != 1) value = -1;
  fclose(file);
  return value;
}

// The smallest limit that is reached, among the groups from mount/group up to the mount point; 0: none.
long least_reached(const char* mount, const char* group) {
  char directory[kPath];
  const size_t root = strlen(mount);
  if (static_cast<size_t>(snprintf(directory, sizeof directory, "%s%s", mount, group)) >= sizeof directory) {
    snprintf(directory, sizeof directory, "%s", mount);
  }
  for (long least = 0;;) {
    const long most = number_in(directory, "pids.max");
    if (most > 0 && number_in(directory, "pids.current") >= most && (least == 0 || most < least)) least = most;
    char* slash = strrchr(directory, '/');
    if (strlen(directory) <= root || slash == nullptr) return least;
    *slash = '\0';
  }
}

// The number in the line NAME of a process's status file, or -1.
long status_number(const char* status, const char* name) {
  const char* line = strstr(status, name);
  return line != nullptr ? strtol(line + strlen(name), nullptr, 10) : -1;
}

bool can_map(size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  munmap(memory, bytes);
  return true;
}

}  // namespace

long reached_pids_limit(const char* mount, const char* membership) {
  char version_1[kPath];
  snprintf(version_1, sizeof version_1, "%s/pids", mount);
  long least = least_reached(mount, "");
  for_control_groups(membership, [&](const char* controllers, const char* path) {
    const bool version_2 = controllers[0] == '\0';
    if (!version_2 && strcmp(controllers, "pids") != 0) return;
    const long reached = least_reached(version_2 ? mount : version_1, path);
    if (reached > 0 && (least == 0 || reached < least)) least = reached;
  });
  return least;
}

long threads_of_user(const char* proc, unsigned user) {
  DIR* processes = opendir(proc);
  if (processes == nullptr) return 0;
  long threads = 0;
  while (const dirent* process = readdir(processes)) {
    if (process->d_name[0] < '0' || process->d_name[0] > '9') continue;
    char path[kPath], status[4096];
    snprintf(path, sizeof path, "%s/%s/status", proc, process->d_name);
    FILE* file = fopen(path, "re");
    if (file == nullptr) continue;  // the process has ended, or must not be read by us
    status[fread(status, 1, sizeof status - 1, file)] = '\0';
    fclose(file);
    if (status_number(status, "\nUid:") == static_cast<long>(user)) {
      threads += std::max(status_number(status, "\nThreads:"), 1L);
    }
  }
  closedir(processes);
  return threads;
}

// The limit of the user (setrlimit(2)) applies to the real user's threads on the whole system, but not to root's. It is
// finite on nearly every system, so it is blamed only if the user has about that many threads; some may have ended
// since.
void Refusal::blame_number() {
  of_number_ = true;
  rlimit limit{RLIM_INFINITY, RLIM_INFINITY};
  const unsigned user = getuid();
  const bool is_bound = user != 0 && getrlimit(RLIMIT_NPROC, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  const auto most = static_cast<unsigned long long>(limit.rlim_cur);
  if (const long group = reached_pids_limit("/sys/fs/cgroup", "/proc/self/cgroup"); group > 0) {
    snprintf(cause_, sizeof cause_, "a control group of this process may have %ld processes and threads, and has them",
             group);
    help_ = "raise its pids.max, or use fewer threads";
  } else if (is_bound && static_cast<unsigned long long>(threads_of_user("/proc", user)) >= most - most / 8) {
    snprintf(cause_, sizeof cause_, "this user may have %llu processes and threads (`ulimit -u`), and has them", most);
    help_ = "raise this limit, end other processes of the user, or use fewer threads";
  } else {  // or the user has threads that are not visible from this container
    int length = snprintf(cause_, sizeof cause_, "the system has as many processes and threads as it allows");
    if (is_bound) snprintf(cause_ + length, sizeof cause_ - length, " (`ulimit -u` is %llu)", most);
    help_ = "raise kernel.threads-max and kernel.pid_max, or use fewer threads";
  }
}

Refusal::Refusal(int error, size_t stack_bytes) {
  constexpr size_t kUsualStack = 8 << 20;
  if (error == EAGAIN && can_map(stack_bytes != 0 ? stack_bytes : kUsualStack)) {
    blame_number();
    return;
  }
  snprintf(cause_, sizeof cause_, "%s%s", strerror(error), AddressSpaceText().c_str());
  if (error == EAGAIN || error == ENOMEM) help_ = "set a smaller stack, or raise the limits on memory";
}

}  // namespace marline
