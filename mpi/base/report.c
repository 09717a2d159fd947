/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes lines on stderr.
 */
#include "base/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static void write_line(const char* kind, const char* format, va_list arguments) {
  char line[1024];
  const int capacity = (int)sizeof line - 1; /* room for the newline */
  int length = snprintf(line, (size_t)capacity, "marline-mpi: %s: ", kind);
  const int body = vsnprintf(line + length, (size_t)(capacity - length), format, arguments);
  length = body < capacity - length ? length + body : capacity - 1;
  line[length++] = '\n';
  if (write(STDERR_FILENO, line, (size_t)length) < 0) return; /* stderr is closed: the line is lost */
}

void report_fatal(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  write_line("error", format, arguments);
  va_end(arguments);
  _exit(1);
}

void report_error(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  write_line("error", format, arguments);
  va_end(arguments);
}

void report_warning(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  write_line("warning", format, arguments);
  va_end(arguments);
}
