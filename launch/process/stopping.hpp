// SPDX-License-Identifier: Apache-2.0
//
// Signals that end the command before a program runs, or after it has ended: one line, and an end by the same signal,
// so that a shell stops, too. While a program runs, child.cpp and job.cpp pass signals on to it.
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

// From now on the signals of kEnding end this process in order, each with a line; but signals that the caller has us
// ignore (nohup) stay ignored. A process that ignores SIGCHLD is not told how its children end (wait(2)): this one does
// not ignore it, even if its caller does. Called once, at the start.
void heed_signals();

// What is executed instead of an end: another command, which goes on with what the program has left. One of the words
// is
// "--ended=", which gets the wait status appended. A descriptor to keep open meanwhile; -1: none.
void end_with(const std::vector<std::string>& words, int kept_descriptor);
// Is added to that status if the program was never started, and why has been said.
constexpr int kUnstarted = 1 << 16;

// The end of this process, with the wait status as exit status or signal, or by the command of end_with.
[[noreturn]] void end_as(int wait_status);

// The line about a signal, and the end by it. Safe in a handler.
[[noreturn]] void end_stopped(int number);

// The signals that end this command. A signal that the caller has us ignore (nohup) does not end it, but stays pending
// all the same while it is blocked.
Signals ending_signals();

// Before another program starts: it starts with the signals that it would have had without us.
void restore_signals();
const sigset_t* callers_mask();

}  // namespace marline::launch

#endif
