// SPDX-License-Identifier: Apache-2.0
//
// What another program prints.
#ifndef MARLINE_LAUNCH_BASE_ANSWER_HPP
#define MARLINE_LAUNCH_BASE_ANSWER_HPP

#include <optional>
#include <string>

#include "base/environment.hpp"

namespace marline::launch {

// Runs words[0], a path, and returns what it prints: its standard output, and its errors, too, if `with_errors`.
// Nothing if it cannot be started. A program that has not closed its output after `seconds` is killed, and the result
// is nothing.
std::optional<std::string> answer_of(const Words& words, Environment environment, int seconds, bool with_errors);

}  // namespace marline::launch

#endif
