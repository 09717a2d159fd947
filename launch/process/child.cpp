// SPDX-License-Identifier: Apache-2.0
//
// Signals that reach this process are passed on to the child, unless their sender has sent them to the child, too. Who
// sent a signal decides this when it arrives.
#include "process/child.hpp"

#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.hpp"
#include "base/report.hpp"
#include "process/scratch.hpp"

namespace marline::launch {
namespace {

constexpr double kForever = INFINITY;
constexpr double kLongSeconds = 3600;
// Variables that only the daemons of Open MPI and of MPICH set for a rank.
constexpr const char* kRankVariables[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK"};

[[noreturn]] void start_in_child(int ready, pid_t parent, const Words& words, Environment& environment) {
  char byte;
  if (read(ready, &byte, 1) != 1) _exit(kNotExecutable);
  close(ready);
  become_program(parent);
  execute(words, environment);
}

// A signal may have come before the child existed; then the child did not get it. So the child waits until this process
// has looked for such signals. If there is one, the program is not started.
pid_t start_child(const Words& words, Environment& environment) {
  const Signals watched = watched_signals();
  sigprocmask(SIG_BLOCK, watched.mask(), nullptr);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw Refusal{"no pipe: " + reason(errno)};
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) throw Refusal{"no process can be started: " + reason(errno)};
  if (child == 0) {
    close(ends[1]);
    start_in_child(ends[0], parent, words, environment);
  }
  close(ends[0]);
  Signals pending;
  sigpending(pending.mask());
  const int came = (pending & ending_signals()).lowest();
  if (came == 0 && write(ends[1], ".", 1) != 1) throw Refusal{"the program's process: " + reason(errno)};
  close(ends[1]);
  if (came == 0) return child;
  waitpid(child, nullptr, 0);
  end_stopped(came);
}

// The status of the child if it has ended. `stopped`: run_child's.
std::optional<int> look_at(pid_t child, const std::function<void(pid_t)>& stopped) {
  for (;;) {
    int status;
    const pid_t changed = waitpid(child, &status, WNOHANG | WUNTRACED);
    if (changed <= 0) return std::nullopt;
    if (!WIFSTOPPED(status)) return status;
    if (stopped && WSTOPSIG(status) == SIGSTOP) stopped(child);
  }
}

Words children_of(pid_t parent) {
  Words found;
  for (const std::string& name : names_in("/proc")) {
    if (!decimal(name)) continue;
    const std::string text = read_file("/proc/" + name + "/stat").value_or("");
    if (text.find(std::string("(") + kRemoverName + ")") != text.npos) continue;  // it ends by itself
    const Words words = words_of(std::string_view(text).substr(text.rfind(')') + 1));
    if (words.size() > 1 && words[1] == std::to_string(parent)) found.push_back(name);
  }
  return found;
}

// Kills all descendants of this process. Each is stopped before its children are looked for, so it cannot start another
// one unseen.
void kill_descendants() {
  std::vector<pid_t> found = {getpid()};
  for (size_t i = 0; i < found.size(); ++i) {
    for (const std::string& name : children_of(found[i])) {
      const pid_t child = decimal(name).value();
      if (kill(child, SIGSTOP) == 0) found.push_back(child);
    }
  }
  for (size_t i = 1; i < found.size(); ++i) kill(found[i], SIGKILL);
}

int attend(pid_t child, Signals& others, const std::function<void(pid_t)>& stopped, const LauncherLimits& limits) {
  const double begun = now();
  double deadline = kForever;
  for (;;) {
    const double left = deadline - now();
    const auto arrived = next_signal(std::max(0.0, std::min(left, kLongSeconds)));
    if (!arrived) {
      if (left > 0) continue;
      char seconds[32];
      snprintf(seconds, sizeof seconds, "%g", limits.last_words);
      say("the launcher has not ended " + std::string(seconds) +
          " s after a signal, and is killed with all that it has started");
      kill_descendants();
      deadline = kForever;
      continue;
    }
    if (ending_signals().has(arrived->number) && now() - begun < limits.starting) {
      deadline = std::min(deadline, now() + limits.last_words);
    }
    if (arrived->number == SIGCHLD) {
      const auto status = look_at(child, stopped);
      if (status) return *status;
      continue;
    }
    others.add(arrived->number);
    if (!child_has_it(*arrived)) kill(child, arrived->number);
  }
}

}  // namespace

Signals watched_signals() { return {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGCHLD}; }

double now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

std::optional<Arrival> next_signal(double seconds) {
  const Signals watched = watched_signals();
  const timespec time{static_cast<time_t>(seconds), static_cast<long>(std::fmod(seconds, 1) * 1e9)};
  siginfo_t found;
  const int number = sigtimedwait(watched.mask(), &found, &time);
  if (number > 0) return Arrival{number, found.si_code, found.si_pid};
  if (errno != EAGAIN && errno != EINTR) throw Refusal{"waiting for signals: " + reason(errno)};
  return std::nullopt;
}

bool child_has_it(const Arrival& arrived) {
  if (arrived.code == SI_KERNEL) return true;  // Ctrl-C at a terminal, for one
  const pid_t parent = getppid();
  if (arrived.sender != parent) return false;
  // MPI's daemons signal a rank's process group. Slurm's signals the group of all ranks of its node, or all processes
  // of the job, but where it tracks processes by control groups each rank alone (Slurm's slurm.conf, ProctrackType).
  if (read_file("/proc/" + std::to_string(parent) + "/comm") == "slurmstepd\n") {
    return !is_tracked_by_cgroup(read_file("/proc/self/cgroup").value_or(""));
  }
  for (const char* variable : kRankVariables) {
    if (getenv(variable) != nullptr) return getpgrp() == getpid();
  }
  return false;
}

bool is_tracked_by_cgroup(const std::string& groups) {
  // Of version 1 by the freezer's. In version 2, where all controllers have one group, it may be there to limit the
  // process only; this counts as tracked.
  for (const std::string& line : split(groups, '\n')) {
    const bool may_track = line.starts_with("0::") || line.find(":freezer:") != line.npos;
    if (may_track && line.find("/step_") != line.npos) return true;
  }
  return false;
}

void become_program(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(kNotExecutable);  // it ended before the line above
  restore_signals();
  sigprocmask(SIG_SETMASK, callers_mask(), nullptr);
}

void execute(const Words& words, Environment& environment) {
  std::vector<char*> arguments = pointers_to(words);
  const bool has_folder = words[0].find('/') != words[0].npos;
  const auto file = has_folder ? words[0] : find_in_path(words[0], environment.search_path());
  errno = ENOENT;
  if (file) execve(file->c_str(), arguments.data(), environment.pointers().data());
  const int error = errno;
  say("cannot execute " + words[0] + ": " + reason(error));
  _exit(error == ENOENT ? kNotFound : kNotExecutable);
}

Signals drain() {
  Signals came;
  while (const auto one = next_signal(0)) came.add(one->number);
  return came;
}

int run_child(const Words& words, Environment environment, Signals& arrived,
              const std::function<void(pid_t)>& stopped) {
  const pid_t child = start_child(words, environment);
  const int status = attend(child, arrived, stopped, {.last_words = kForever});
  arrived.add(drain());
  return status;
}

int run_launcher(const Words& words, Environment environment, const LauncherLimits& limits) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);  // what it has started is below us, though it has ended itself
  const pid_t child = start_child(words, environment);
  Signals arrived;
  const int status = attend(child, arrived, {}, limits);
  drain();
  const int stopped_by = (arrived & ending_signals()).lowest();
  return stopped_by != 0 ? stopped_by : status;
}

}  // namespace marline::launch
