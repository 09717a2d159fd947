// SPDX-License-Identifier: Apache-2.0
//
// The error directive: writes the message and the position, and ends the program if the error is fatal.
#include "construct/environment/error.hpp"

#include "base/check.hpp"
#include "exec/worker/announce.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace marline {

namespace {

constexpr size_t kMostOfMessage = 700, kMostOfPlace = 200;  // characters; a line has room for both

struct Field {
  const char* text;
  int length;
};

// Removes the text up to the next semicolon from `rest`, and returns it.
Field cut(const char*& rest) {
  size_t length = std::strcspn(rest, ";");
  size_t shown = std::min(length, kMostOfPlace / 2);
  Field field{rest + length - shown, static_cast<int>(shown)};  // a long path keeps its end
  rest += length + (rest[length] == ';' ? 1 : 0);
  return field;
}

// " at file:line:column", or nothing.
void describe_place(char* text, size_t size, const char* source) {
  text[0] = '\0';
  if (source == nullptr || source[0] != ';') return;
  const char* rest = source + 1;
  Field file = cut(rest);
  cut(rest);  // the function
  Field line = cut(rest), column = cut(rest);
  if (file.length == 0 || line.length == 0) return;
  snprintf(text, size, " at %.*s:%.*s:%.*s", file.length, file.text, line.length, line.text, column.length,
           column.text);
}

}  // namespace

void error_directive(const ErrorDirective& error) {
  announce_error(error.severity, error.message, error.length, error.codeptr);
  char place[kMostOfPlace + 50];
  describe_place(place, sizeof place, error.source);
  bool has_message = error.message != nullptr && error.length != 0;
  auto shown = static_cast<int>(has_message ? std::min(error.length, kMostOfMessage) : 0);
  auto say = error.severity == kSeverityWarning ? warn : fatal_as_asked;
  say("error directive%s%s%.*s", place, has_message ? ": " : "", shown, has_message ? error.message : "");
}

}  // namespace marline
