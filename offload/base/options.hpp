// SPDX-License-Identifier: Apache-2.0
//
// The environment variables that libmarline-target reads. Each is read where it is needed first. docs/options.md is
// made from the table in options.cpp. Any thread.
#pragma once

#include <cstddef>

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

// The variable's value, or else its default, as a number of bytes. Ends the program if the value is not a number of
// bytes.
[[nodiscard]] size_t option_bytes(Option option);

// The variable's value, or else its default, as a time in milliseconds. Ends the program if the value is not a time
// from 1 s to 1 day.
[[nodiscard]] int option_milliseconds(Option option);

// Ends the program with a message that the variable cannot have this value, and what it accepts. `wrong`: the part of
// the value from the error on, or null.
[[noreturn]] void refuse_value(Option option, const char* value, const char* wrong = nullptr);

}  // namespace marline::offload
