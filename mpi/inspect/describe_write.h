/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes JSON for `marline ps`, piece by piece.
 */
#ifndef MARLINE_MPI_DESCRIBE_WRITE_H
#define MARLINE_MPI_DESCRIBE_WRITE_H

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "marline/marline.h"

typedef struct Out {
  marline_describe_write_fn write;
  void* sink;
} Out;

__attribute__((format(printf, 2, 3))) static inline void print(const Out* out, const char* format, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  out->write(out->sink, text, length < (int)sizeof text ? (size_t)length : sizeof text - 1);
}

static inline void print_string(const Out* out, const char* text) {
  out->write(out->sink, "\"", 1);
  for (; *text != '\0'; ++text) {
    if (*text == '"' || *text == '\\' || (unsigned char)*text < 0x20)
      print(out, "\\u%04x", (unsigned)(unsigned char)*text);
    else
      out->write(out->sink, text, 1);
  }
  out->write(out->sink, "\"", 1);
}

#endif
