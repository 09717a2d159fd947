// SPDX-License-Identifier: Apache-2.0
//
// How the command reports: every message is one line on stderr that begins with "marline: ". Exit statuses are those of
// env(1) and timeout(1): 125 for what Marline itself refuses, 126 and 127 for a program that cannot be executed.
#ifndef MARLINE_LAUNCH_BASE_REPORT_HPP
#define MARLINE_LAUNCH_BASE_REPORT_HPP

#include <string>

namespace marline::launch {

constexpr int kUsage = 2;
constexpr int kRefused = 125;
constexpr int kNotExecutable = 126;
constexpr int kNotFound = 127;

// The command cannot do what it was asked. The text says what failed, the value, and what to do.
struct Refusal {
  std::string text;
  int status = kRefused;
};

// Writes the line by one call, so that the lines of several ranks do not mix.
void say(const std::string& text);

// The text of an error number.
std::string reason(int error);

// Where the status of exit(status) stands in a wait status (wait(2)).
constexpr int wait_status_of_exit(int status) { return status << 8; }

// A wait status in words: "status 3" or "signal 9".
std::string outcome(int wait_status);

}  // namespace marline::launch

#endif
