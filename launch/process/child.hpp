// SPDX-License-Identifier: Apache-2.0
//
// Runs one program in the foreground on the caller's behalf: same standard streams, signals passed on, exit status
// passed back. While it runs, the signals that are passed on are blocked here and taken by sigtimedwait(2). This
// process has one thread.
#ifndef MARLINE_LAUNCH_PROCESS_CHILD_HPP
#define MARLINE_LAUNCH_PROCESS_CHILD_HPP

#include <functional>
#include <optional>
#include <sys/types.h>

#include "base/environment.hpp"
#include "process/stopping.hpp"

namespace marline::launch {

// What is passed on, and SIGCHLD.
Signals watched_signals();

// Returns the wait status of `words` run with `environment`. `arrived` gets the signals that came in meanwhile. After
// the program's end they do nothing. `stopped` is called each time that SIGSTOP has stopped the process.
int run_child(const Words& words, Environment environment, Signals& arrived, const std::function<void(pid_t)>& stopped);

// How long a launcher of MPI may live on after a signal that comes while it starts. It passes later signals on, and its
// job may take its time.
struct LauncherLimits {
  double last_words = 10;  // seconds
  double starting = 10;
};

// The same for a launcher of MPI. What it returns says nothing of a job that a signal has stopped (Hydra: 0 or the
// signal's number, Open MPI: 1): then this returns that signal. If a signal comes while Hydra starts, it does not end
// at all, with or without us: it is killed then, with all that it has started.
int run_launcher(const Words& words, Environment environment, const LauncherLimits& limits = {});

// Parts of the above, which a job without MPI needs, too (start/job.cpp).
// ----------------------------------------------

struct Arrival {
  int number;
  int code;
  pid_t sender;
};
// Nothing: the time is over, or the wait was interrupted before that: the caller looks at the clock.
std::optional<Arrival> next_signal(double seconds);
double now();  // seconds

// Whether the child got the signal, too: from the terminal, or from the daemon that started us as a rank.
bool child_has_it(const Arrival& arrived);
// Whether Slurm tracks a process of these control groups (/proc/PID/cgroup) by them.
bool is_tracked_by_cgroup(const std::string& groups);

// In the child, last before `execute`: it is killed when this process, even if it is killed itself, has ended.
void become_program(pid_t parent);
[[noreturn]] void execute(const Words& words, Environment& environment);

// A signal that was meant for the program, too, and has come to this process after its end, does nothing more: how the
// program has ended says it. Returns which there were.
Signals drain();

}  // namespace marline::launch

#endif
