// SPDX-License-Identifier: Apache-2.0
//
// What another program prints.
#ifndef MARLINE_LAUNCH_BASE_ANSWER_HPP
#define MARLINE_LAUNCH_BASE_ANSWER_HPP

#include <optional>
#include <string>

#include "base/environment.hpp"

namespace marline::launch {

// Runs words[0], a path, and returns what it prints, on both streams if `with_errors`. Nothing if it cannot be started,
// or has not ended its output after `seconds`, when it is killed.
std::optional<std::string> answer_of(const Words& words, Environment environment, int seconds, bool with_errors);

}  // namespace marline::launch

#endif
