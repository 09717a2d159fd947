// SPDX-License-Identifier: Apache-2.0
//
// The environment variables that libmarline-target reads. Each is read where it is needed first; before that, when the
// library is loaded, values that the user has given are checked (CheckedAtLoad). docs/options.md is made from the table
// in options.cpp. Any thread.
#pragma once

#include "../common/readers.hpp"

namespace marline::offload {

enum class Option {
  kDevices,
  kLibrary,
  kAvailable,
  kStaging,
  kWire,
  kNodesAs,
  kStartTimeout,
  kHostTimeout,
  kNetwork,
  kLink,
  kNodeDevices,
  kClusterWrites,
  kClusterPlacement,
  kClusterSends,
  kClusterMemory
};

// The variable's value; null if it is not given, empty or its default.
[[nodiscard]] const char* option_value(Option option);

// The variable's value, or else its default.
[[nodiscard]] const char* option_text(Option option);

// Ends the program with exit code 2 and a message that the variable cannot have this value, and what it accepts.
// `wrong`: the part of the value from the error on, or null.
[[noreturn]] void refuse_value(Option option, const char* value, const char* wrong = nullptr);

// The variable's value, or else its default, as `read` converts it: bool(Cursor&, Value&), as in common/readers.hpp.
// Ends the program if `read` returns false.
template <class Value, class Read>
[[nodiscard]] Value option_as(Option option, Read read) {
  const char* text = option_text(option);
  Cursor in(text);
  Value value{};
  if (!read(in, value) || !in.at_end()) refuse_value(option, text);
  return value;
}

[[nodiscard]] size_t option_bytes(Option option);      // up to 16T
[[nodiscard]] int option_milliseconds(Option option);  // from 1 s to 1 day

template <class Enum, size_t N>
[[nodiscard]] Enum option_word(Option option, const char* const (&words)[N]) {
  return option_as<Enum>(option, [&](Cursor& in, Enum& value) { return read_word(in, words, value); });
}

// Checks an option when the library is loaded, so that a value that cannot be used is reported even if the program has
// nothing for which the option counts. `read` reads the option, and ends the program if it cannot. Each function that
// reads an option has such a static object beside it. One process of a job reports the value for all.
class CheckedAtLoad {
 public:
  CheckedAtLoad(Option option, void (*read)());
};

}  // namespace marline::offload
