// SPDX-License-Identifier: Apache-2.0
//
// Standard error is written to directly: nothing is lost if the process ends by a signal.
#include "base/report.hpp"

#include <cerrno>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

namespace marline::launch {

void say(const std::string& text) {
  const std::string line = "marline: " + text + "\n";
  size_t written = 0;
  while (written < line.size()) {
    const ssize_t count = write(STDERR_FILENO, line.data() + written, line.size() - written);
    if (count < 0 && errno != EINTR) return;  // its reader is gone, and nobody else to tell
    if (count > 0) written += static_cast<size_t>(count);
  }
}

std::string reason(int error) { return strerror(error); }

std::string outcome(int wait_status) {
  return WIFSIGNALED(wait_status) ? "signal " + std::to_string(WTERMSIG(wait_status))
                                  : "status " + std::to_string(WEXITSTATUS(wait_status));
}

}  // namespace marline::launch
