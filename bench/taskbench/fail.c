/* SPDX-License-Identifier: Apache-2.0
 *
 * Ends the process with a message, and allocates memory or ends the process.
 */
#define _GNU_SOURCE
#include "fail.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kCacheLine = 64 };

void fail(const char* format, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  fprintf(stderr, "taskbench: %s\n", line); /* one call: lines of two threads do not mix */
  fflush(stderr);
  _exit(1);
}

void* allocate(size_t bytes) {
  size_t whole = (bytes + kCacheLine) / kCacheLine * kCacheLine;
  void* memory = aligned_alloc(kCacheLine, whole);
  if (!memory)
    fail("cannot allocate %zu bytes: take smaller --width, --slots, --output-bytes or --scratch-bytes", whole);
  return memset(memory, 0, whole);
}
