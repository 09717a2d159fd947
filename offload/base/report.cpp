// SPDX-License-Identifier: Apache-2.0
//
// Writes the messages. Each line is written at once, so that lines of several threads do not mix.
#include "base/report.hpp"

#include "../common/options.hpp"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <strings.h>
#include <unistd.h>

namespace marline::offload {

namespace {

void write_line(const char* kind, const char* format, va_list arguments) {
  char line[1024];
  int length = snprintf(line, sizeof line, "marline: %s%s", kind, *kind != '\0' ? ": " : "");
  const int wanted = vsnprintf(line + length, sizeof line - static_cast<size_t>(length), format, arguments);
  length = wanted < 0 ? length : length + wanted;
  if (length > static_cast<int>(sizeof line) - 2) length = sizeof line - 2;  // a cut message still ends its line
  line[length++] = '\n';
  [[maybe_unused]] ssize_t written = write(STDERR_FILENO, line, static_cast<size_t>(length));
}

}  // namespace

void fatal(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  write_line("fatal", format, arguments);
  va_end(arguments);
  abort();
}

void end_process(int status, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  write_line("fatal", format, arguments);
  va_end(arguments);
  _exit(status);
}

void end_by_options(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  write_line("fatal", format, arguments);
  va_end(arguments);
  _exit(kUnusableOption);
}

void note(const char* format, ...) {
  const char* display = trusted_variable("OMP_DISPLAY_ENV");
  if (display == nullptr || strcasecmp(display, "verbose") != 0) return;
  va_list arguments;
  va_start(arguments, format);
  write_line("", format, arguments);
  va_end(arguments);
}

void warn(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  write_line("warning", format, arguments);
  va_end(arguments);
}

}  // namespace marline::offload
