// SPDX-License-Identifier: Apache-2.0
//
// The error directive at execution (OpenMP 5.2, section 8.5). Any thread.
#pragma once

#include <cstddef>

namespace marline {

inline constexpr int kSeverityWarning = 1, kSeverityFatal = 2;  // omp_severity_t, also of tools

struct ErrorDirective {
  int severity;
  const char* message;  // null: no clause; need not end with a null byte
  size_t length;
  const char* source = nullptr;   // position in the source, in Clang's format ";file;function;line;column;;"
  const void* codeptr = nullptr;  // for tools
};

// Returns if the severity is a warning; otherwise the program ends with status 1, as if it had called exit.
void error_directive(const ErrorDirective& error);

}  // namespace marline
