// SPDX-License-Identifier: Apache-2.0
//
// Why the system refuses a thread or a process, and what helps. It gives one error, EAGAIN, for a limit on the number
// of threads and, from pthread_create, for a stack that finds no memory. Any thread, right after the refusal.
#pragma once

#include <cstddef>

namespace marline {

// `error`: from pthread_create or fork; `stack_bytes`: of the thread, 0: nobody has said, or a process.
class Refusal {
 public:
  Refusal(int error, size_t stack_bytes);

  // The number of threads is what is limited: a smaller stack would not help.
  [[nodiscard]] bool is_of_number() const { return of_number_; }
  // What the cause is, with the limit where it is known.
  [[nodiscard]] const char* cause() const { return cause_; }
  // What to do, without the program's own settings.
  [[nodiscard]] const char* help() const { return help_; }

 private:
  void blame_number();

  bool of_number_ = false;
  char cause_[192];
  const char* help_ = "";
};

// How many threads the processes below `proc` (/proc, or a test's) have whose real user is `user`.
long threads_of_user(const char* proc, unsigned user);

// The pure function beneath, for tests: the least pids.max of the control groups of a process that have reached it,
// where they are mounted at `mount` and the file `membership` is its /proc/PID/cgroup; 0: none has.
long reached_pids_limit(const char* mount, const char* membership);

}  // namespace marline
