// SPDX-License-Identifier: Apache-2.0
//
// Reports variables in the environment that have no effect: misspelt OpenMP variables, and variables of other runtimes
// unless their value asks for what Marline does anyway. One line each, once, while the library is loaded.
#pragma once

namespace marline {

// `environment`: strings NAME=VALUE, ended by a null pointer.
void check_names(const char* const* environment);

// The same for one variable.
void check_name(const char* name, const char* value);

// Whether the name begins with KMP_, LIBOMP_ or GOMP_.
bool is_of_another_runtime(const char* name);

}  // namespace marline
