// SPDX-License-Identifier: Apache-2.0
//
// For tests of config/: options parsed from an environment that the test sets, with the resulting warnings.
#pragma once

#include "config/read_options.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "base/check.hpp"

namespace marline {

inline std::map<std::string, std::string> environment;

inline const char* lookup(const char* name) {
  const auto found = environment.find(name);
  return found == environment.end() ? nullptr : found->second.c_str();
}

struct Parsed {
  Options options{};
  std::string warnings;
};

inline Parsed parse(std::map<std::string, std::string> variables) {
  environment = std::move(variables);
  Parsed result;
  testing::internal::CaptureStderr();
  options_parse(result.options, lookup);
  set_warnings(true);  // a variable may have switched them off
  result.warnings = testing::internal::GetCapturedStderr();
  return result;
}

}  // namespace marline
