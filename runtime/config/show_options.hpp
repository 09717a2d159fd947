// SPDX-License-Identifier: Apache-2.0
//
// Shows the options: for OMP_DISPLAY_ENV, omp_display_env and KMP_SETTINGS.
#pragma once

#include "config/options.hpp"

namespace marline {

// Prints the variables that are set and the options in force, on stderr, for KMP_SETTINGS.
void options_display_settings();

// Prints the block of OMP_DISPLAY_ENV and omp_display_env, on stderr; `verbose` adds Marline's own options, of
// all its libraries that are loaded.
void options_display(bool verbose);

// The texts that these functions print, for tests.
size_t options_format(const Options& source, bool verbose, char* buffer, size_t size);
size_t options_format_settings(const Options& source, const char* const* environment, char* buffer, size_t size);

}  // namespace marline
