// SPDX-License-Identifier: Apache-2.0
//
// The handler ends the process itself. All that it writes and executes is prepared by heed_signals and end_with, so it
// calls only what is safe in a handler (signal-safety(7)).
#include "process/stopping.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../common/environment.h"
#include "base/report.hpp"

namespace marline::launch {
namespace {

constexpr int kPassedOn[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
constexpr size_t kStatusBytes = 16;

// Written by heed_signals and end_with before the signals are let in; read by the handler.
sigset_t mask_of_caller;
bool caller_ignores_children;
bool speaks = true;
std::vector<std::string> lines(NSIG);
struct Next {
  std::vector<std::string> words;
  std::vector<char*> pointers;  // empty: there is no other command
  char* status = nullptr;       // where the wait status goes
} next;

bool is_ignored(int number) {
  struct sigaction action;
  return sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

void set_handler(int number, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  sigaction(number, &action, nullptr);
}

// Writes the status as digits to the place that end_with has left for them.
void append_status(int wait_status) {
  char* text = next.status;
  char digits[kStatusBytes];
  size_t count = 0;
  do {
    digits[count++] = static_cast<char>('0' + wait_status % 10);
    wait_status /= 10;
  } while (wait_status > 0);
  while (count > 0) *text++ = digits[--count];
  *text = '\0';
}

[[noreturn]] void execute_next(int wait_status) {
  append_status(wait_status);
  sigprocmask(SIG_SETMASK, &mask_of_caller, nullptr);
  execv(next.pointers[0], next.pointers.data());
  say(next.words[0] + ": cannot be executed: " + reason(errno) + "; install Marline again");
  _exit(kRefused);
}

[[noreturn]] void end_by_signal(int number) {
  for (int other : kPassedOn) {
    if (other != number) set_handler(other, SIG_IGN);
  }
  if (number != SIGKILL) set_handler(number, SIG_DFL);
  sigprocmask(SIG_SETMASK, &mask_of_caller, nullptr);
  kill(getpid(), number);
  _exit(128 + number);  // the signal is blocked in our caller's mask
}

}  // namespace

Signals::Signals(std::initializer_list<int> numbers) : Signals() {
  for (int number : numbers) add(number);
}

void Signals::add(const Signals& others) {
  for (int number = 1; number < NSIG; ++number) {
    if (others.has(number)) add(number);
  }
}

int Signals::lowest() const {
  for (int number = 1; number < NSIG; ++number) {
    if (has(number)) return number;
  }
  return 0;
}

Signals Signals::operator&(const Signals& other) const {
  Signals both;
  for (int number = 1; number < NSIG; ++number) {
    if (has(number) && other.has(number)) both.add(number);
  }
  return both;
}

std::string words_for_signal(int number) { return strsignal(number); }

void heed_signals() {
  sigprocmask(SIG_BLOCK, nullptr, &mask_of_caller);
  speaks = speaks_for_job();
  for (int number : kEnding) {
    lines[static_cast<size_t>(number)] = "marline: stopped by signal " + std::to_string(number) + " (" +
                                         words_for_signal(number) + ") before the program had started\n";
  }
  caller_ignores_children = is_ignored(SIGCHLD);
  if (caller_ignores_children) set_handler(SIGCHLD, SIG_DFL);
  for (int number : kEnding) {
    if (!is_ignored(number)) set_handler(number, end_stopped);
  }
}

void end_with(const std::vector<std::string>& words, int kept_descriptor) {
  next.words = words;
  for (std::string& word : next.words) {
    const bool has_status = word == "--ended=";
    const size_t length = word.size();
    if (has_status) word.append(kStatusBytes, '\0');
    if (has_status && next.status == nullptr) next.status = word.data() + length;
    next.pointers.push_back(word.data());
  }
  if (next.status == nullptr) throw Refusal{"--then needs the word --ended=", kUsage};
  next.pointers.push_back(nullptr);
  if (kept_descriptor >= 0) fcntl(kept_descriptor, F_SETFD, 0);
}

void end_as(int wait_status) {
  if (!next.pointers.empty()) execute_next(wait_status);
  wait_status &= ~kUnstarted;
  if (!WIFSIGNALED(wait_status)) exit(WEXITSTATUS(wait_status));
  rlimit cores;
  if (getrlimit(RLIMIT_CORE, &cores) == 0) {  // one core is enough
    cores.rlim_cur = 0;
    setrlimit(RLIMIT_CORE, &cores);
  }
  end_by_signal(WTERMSIG(wait_status));
}

void end_stopped(int number) {
  const std::string& line = lines[static_cast<size_t>(number)];
  if (speaks && write(STDERR_FILENO, line.data(), line.size()) < 0) speaks = false;
  if (!next.pointers.empty()) execute_next(number | kUnstarted);
  end_by_signal(number);
}

Signals ending_signals() {
  Signals all;
  for (int number : kEnding) {
    if (!is_ignored(number)) all.add(number);
  }
  return all;
}

void restore_signals() {
  for (int number : kEnding) {
    if (!is_ignored(number)) set_handler(number, SIG_DFL);
  }
  if (caller_ignores_children) set_handler(SIGCHLD, SIG_IGN);
}

const sigset_t* callers_mask() { return &mask_of_caller; }

}  // namespace marline::launch
