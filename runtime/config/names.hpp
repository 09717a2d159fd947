// SPDX-License-Identifier: Apache-2.0
//
// Reports variables in the environment that have no effect: misspelt OpenMP variables, and variables of other runtimes
// unless their value asks for what Marline does anyway. One line each, once, while the library is loaded.
#pragma once

namespace marline {

// `environment`: NAME=VALUE strings, then null.
void check_names(const char* const* environment);

// The same for one.
void check_name(const char* name, const char* value);

// KMP_*, LIBOMP_*, GOMP_*.
bool is_of_another_runtime(const char* name);

}  // namespace marline
