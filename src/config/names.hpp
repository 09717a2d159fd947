// SPDX-License-Identifier: Apache-2.0
//
// Variables in the environment that nobody obeys: misspelt ones of OpenMP's, and those that other runtimes obey and users
// would miss. One line each, once, while the library is loaded.
#pragma once

namespace marline {

// `environment`: NAME=VALUE strings, then null.
void check_names(const char* const* environment);

}  // namespace marline
