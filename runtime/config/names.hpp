// SPDX-License-Identifier: Apache-2.0
//
// Reports variables in the environment that have no effect: misspelt OpenMP variables, and variables of other runtimes
// unless their value asks for what Marline does anyway. One line each, once a job.
#pragma once

namespace marline {

// `environment`: strings NAME=VALUE, ended by a null pointer.
void check_names(const char* const* environment);

// The same for one variable.
void check_name(const char* name, const char* value);

// Whether the variable has not had this value before, and this process speaks for its job (speaks_for_job): what is
// wrong with it is to be reported. The environment may be read twice.
bool is_news(const char* name, const char* value);

// Forgets all values: a test reads many environments.
void forget_values();

// Whether the name begins with KMP_, LIBOMP_ or GOMP_.
bool is_of_another_runtime(const char* name);

}  // namespace marline
