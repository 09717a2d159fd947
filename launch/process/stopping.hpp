// SPDX-License-Identifier: Apache-2.0
//
// What a signal does before the program runs, or after it has ended: the command prints one line and ends by the same
// signal, so that a shell's script stops, too. While a program runs, child.cpp and job.cpp pass signals on to it.
#ifndef MARLINE_LAUNCH_PROCESS_STOPPING_HPP
#define MARLINE_LAUNCH_PROCESS_STOPPING_HPP

#include <csignal>
#include <string>
#include <vector>

namespace marline::launch {

constexpr int kEnding[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};

class Signals {
 public:
  Signals() { sigemptyset(&set_); }
  Signals(std::initializer_list<int> numbers);
  void add(int number) { sigaddset(&set_, number); }
  void add(const Signals& others);
  bool has(int number) const { return sigismember(&set_, number) == 1; }
  // The lowest number; 0: there is none.
  int lowest() const;
  Signals operator&(const Signals& other) const;
  const sigset_t* mask() const { return &set_; }
  sigset_t* mask() { return &set_; }

 private:
  sigset_t set_;
};

// "Killed" for 9.
std::string words_for_signal(int number);

// From now on each signal of kEnding prints a line and ends this process, except signals that the caller has set to be
// ignored (nohup). If the caller ignores SIGCHLD, this process does not: it could not learn how its children end
// (wait(2)). Called once, at the start.
void heed_signals();

// Makes `words` a command that this process executes instead of ending, for example to report on a trace. One of the
// words is "--ended=", to which the wait status is appended. `kept_descriptor` stays open for the command; -1: none.
void end_with(const std::vector<std::string>& words, int kept_descriptor);
// Added to that status if the program was not started. The user has been told why.
constexpr int kUnstarted = 1 << 16;

// Ends this process with the program's exit status or signal, or executes the command of end_with.
[[noreturn]] void end_as(int wait_status);

// Prints the line about a signal and ends by that signal. Safe in a signal handler.
[[noreturn]] void end_stopped(int number);

// The signals that end this command: kEnding, without the ones that the caller ignores (nohup). An ignored signal can
// be pending while it is blocked, so it must not be among them.
Signals ending_signals();

// Called before another program is executed: gives it the signal actions that it would have had without `marline`.
void restore_signals();
const sigset_t* callers_mask();

}  // namespace marline::launch

#endif
