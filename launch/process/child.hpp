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

// The signals that are passed on, and SIGCHLD.
Signals watched_signals();

// Runs `words` with `environment` and returns the wait status. `arrived` gets the signals that came to this process
// meanwhile; they do not end it. `stopped` is called each time that SIGSTOP has stopped the child.
int run_child(const Words& words, Environment environment, Signals& arrived, const std::function<void(pid_t)>& stopped);

// If a signal comes in the first `starting` seconds of a launcher of MPI, the launcher has `last_words` seconds to end.
// A later signal reaches its ranks, and they may take their time.
struct LauncherLimits {
  double last_words = 10;  // seconds
  double starting = 10;
};

// Runs a launcher of MPI. Its status does not say whether a signal has stopped the job (Hydra: 0 or the signal's
// number, Open MPI: 1), so after a signal this returns the signal. Hydra can hang, with or without Marline, if a signal
// comes while it starts: it is then killed with all that it has started.
int run_launcher(const Words& words, Environment environment, const LauncherLimits& limits = {});

// Parts of the above, which a job without MPI needs, too (start/job.cpp).
// ----------------------------------------------

struct Arrival {
  int number;
  int code;
  pid_t sender;
};
// Nothing: the time is over, or the wait was interrupted; the caller looks at the clock.
std::optional<Arrival> next_signal(double seconds);
double now();  // seconds

// Whether the child got the signal, too: from the terminal, or from the daemon that started us as a rank.
bool child_has_it(const Arrival& arrived);
// Whether Slurm tracks a process of these control groups (/proc/PID/cgroup) by them.
bool is_tracked_by_cgroup(const std::string& groups);

// Called in the child just before `execute`. From then on the kernel kills the child when its parent ends, even if the
// parent is killed.
void become_program(pid_t parent);
[[noreturn]] void execute(const Words& words, Environment& environment);

// Takes the signals that have come since the program ended, so that they do not end this process: its status is that of
// the program. Returns them.
Signals drain();

}  // namespace marline::launch

#endif
