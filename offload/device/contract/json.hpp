// SPDX-License-Identifier: Apache-2.0
//
// Helpers for this library's part of the report of `marline ps` (marline_describe_register): they allocate nothing and
// wait for no thread.
#pragma once

#include "base/lock.hpp"
#include "marline/marline.h"

#include <sched.h>

#include <cstdarg>
#include <cstdio>

namespace marline::offload::device {

// Makes the text usable in a JSON string: characters that need an escape become '?'.
inline void make_plain(char* text) {
  for (; *text != '\0'; ++text) {
    if (*text == '"' || *text == '\\' || static_cast<unsigned char>(*text) < ' ') *text = '?';
  }
}

// Takes a lock that is held only for some instructions at a time. If it does not become free, the thread that holds it
// has been stopped: then the function gives up and returns false.
[[nodiscard]] inline bool take_soon(Lock& lock) {
  constexpr int kTries = 1000;
  for (int i = 0; i < kTries; ++i) {
    if (lock.try_take()) return true;
    sched_yield();
  }
  return false;
}

// Writes text of at most 1023 bytes; longer text is cut.
class JsonSink {
 public:
  JsonSink(marline_describe_write_fn write, void* sink) : write_(write), sink_(sink) {}

  __attribute__((format(printf, 2, 3))) void print(const char* format, ...) const {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    int length = std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length > static_cast<int>(sizeof text) - 1) length = sizeof text - 1;
    if (length > 0) write_(sink_, text, static_cast<size_t>(length));
  }

 private:
  marline_describe_write_fn write_;
  void* sink_;
};

}  // namespace marline::offload::device
