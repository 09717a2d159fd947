// SPDX-License-Identifier: Apache-2.0
//
// fatal and warn. A message is formatted into one buffer and printed with one write, so that the lines of several
// threads and ranks do not mix. errno is kept, because warn may run between a user's call and the user's check of
// errno.
#include "base/check.hpp"

#include "base/atomic.hpp"
#include "base/clock.hpp"
#include "../common/thread_id.h"

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace marline {
namespace {

constexpr int kLineBytes = 1024;

Atomic<bool> warnings_on{true};  // written and read by any thread; orders nothing

void write_line(const char* prefix, const char* format, va_list arguments) {
  const int saved_errno = errno;
  char line[kLineBytes];
  int length = snprintf(line, sizeof line, "marline: %s: ", prefix);
  const int wanted = vsnprintf(line + length, sizeof line - static_cast<size_t>(length), format, arguments);
  length = wanted < 0 ? length : length + wanted;
  if (length > kLineBytes - 2) length = kLineBytes - 2;  // a cut message also ends with a new line
  line[length] = '\n';
  const char* at = line;
  for (size_t left = static_cast<size_t>(length) + 1; left > 0;) {
    const ssize_t written = write(STDERR_FILENO, at, left);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) break;  // stderr is closed
    at += written;
    left -= static_cast<size_t>(written);
  }
  errno = saved_errno;
}

// If one thread cannot continue, other threads often cannot either: the first message is enough, and ends the process.
// The word has process and thread, so that a forked child has a first thread of its own.
Atomic<uint64_t> first_to_fail{0};

uint64_t process_bits() { return static_cast<uint64_t>(getpid()) << 32; }

bool is_first_to_fail() {
  const uint64_t self = process_bits() | static_cast<uint32_t>(thread_id());
  uint64_t seen = first_to_fail.load(relaxed);
  while (!is_failing()) {
    if (first_to_fail.compare_exchange_weak(seen, self)) return true;
  }
  return first_to_fail.load(relaxed) == self;
}

// Returns at once in the first thread that fails; in other threads after `seconds`, because the end of the process may
// wait for its threads.
void wait_unless_first(uint64_t seconds) {
  const uint64_t end = nanoseconds_now() + seconds * 1'000'000'000;
  while (!is_first_to_fail() && nanoseconds_now() < end) usleep(10'000);
}

}  // namespace

bool is_failing() { return first_to_fail.load(relaxed) >> 32 == process_bits() >> 32; }

void fatal(const char* format, ...) {
  wait_unless_first(1);
  va_list arguments;
  va_start(arguments, format);
  write_line("fatal", format, arguments);
  va_end(arguments);
  abort();
}

void fatal_as_asked(const char* format, ...) {
  wait_unless_first(30);
  if (!is_first_to_fail()) _exit(EXIT_FAILURE);
  va_list arguments;
  va_start(arguments, format);
  write_line("fatal", format, arguments);
  va_end(arguments);
  exit(EXIT_FAILURE);
}

void set_warnings(bool on) { warnings_on.store(on, relaxed); }

void warn(const char* format, ...) {
  if (!warnings_on.load(relaxed)) return;
  va_list arguments;
  va_start(arguments, format);
  write_line("warning", format, arguments);
  va_end(arguments);
}

void assertion_failed(const char* condition, const char* file, int line) {
  fatal("%s:%d: assertion failed: %s (a defect of Marline: please report it)", file, line, condition);
}

}  // namespace marline
