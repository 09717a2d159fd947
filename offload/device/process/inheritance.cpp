// SPDX-License-Identifier: Apache-2.0
//
// Closes the descriptors, drops the buffered output and ignores the signals that a forked process must not keep.
#include "device/process/inheritance.hpp"

#include <signal.h>
#include <stdio_ext.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdio>

namespace marline::offload::device {

namespace {

// Linux before 5.9 has no close_range: the descriptors stay open there.
void close_between(int first, int last) {
#ifdef SYS_close_range
  if (first <= last) syscall(SYS_close_range, first, last, 0);
#endif
}

// A terminal or a batch system sends these signals to the whole process group. The program decides what they mean; when
// it ends, the device's process sees that its socket is closed.
void ignore_signals_of_the_group() {
  for (int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2}) ::signal(signal, SIG_IGN);
}

}  // namespace

// Does not call fflush(nullptr): that waits for a thread that reads from a file, perhaps for ever. For the same reason
// it skips a stream that another thread has locked.
void flush_output() {
  for (std::FILE* file : {stdout, stderr}) {
    if (ftrylockfile(file) != 0) continue;
    std::fflush(file);
    funlockfile(file);
  }
}

void close_inherited(int socket, int file) {
  ignore_signals_of_the_group();
  __fpurge(stdout);
  __fpurge(stderr);
  int low = std::min(socket, file), high = std::max(socket, file);
  close_between(STDERR_FILENO + 1, low - 1);
  close_between(std::max(low, STDERR_FILENO) + 1, high - 1);
  close_between(std::max(high, STDERR_FILENO) + 1, INT_MAX);
}

}  // namespace marline::offload::device
