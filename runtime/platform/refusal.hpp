// SPDX-License-Identifier: Apache-2.0
//
// Finds out why the system refuses a thread or a process, and what helps. The error EAGAIN may mean a limit on the
// number of threads or, from pthread_create, no memory for a stack. Any thread, right after the refusal.
#pragma once

#include <cstddef>

namespace marline {

// `error`: from pthread_create or fork; `stack_bytes`: of the thread; 0: the default, or for a process.
class Refusal {
 public:
  Refusal(int error, size_t stack_bytes);

  // True: the number of threads is limited, and a smaller stack would not help.
  [[nodiscard]] bool is_of_number() const { return of_number_; }
  // The cause, with the limit if it is known.
  [[nodiscard]] const char* cause() const { return cause_; }
  // Advice that does not mention the program's own settings.
  [[nodiscard]] const char* help() const { return help_; }

 private:
  void blame_number();

  bool of_number_ = false;
  char cause_[192];
  const char* help_ = "";
};

// The number of threads with the real user `user`, in the processes below `proc` (/proc, or a test's folder).
long threads_of_user(const char* proc, unsigned user);

// The pure function used by the one above, for tests: the smallest pids.max that has been reached, among the control
// groups of a process. They are mounted at `mount`, and the file `membership` is the process's /proc/PID/cgroup; 0:
// none has been reached.
long reached_pids_limit(const char* mount, const char* membership);

}  // namespace marline
