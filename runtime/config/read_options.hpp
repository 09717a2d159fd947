// SPDX-License-Identifier: Apache-2.0
//
// Reads the options from the environment, and changes them where the program asks for it.
#pragma once

#include "config/options.hpp"

namespace marline {

// Reads the environment, unless it is the same as at the last call; then returns false. Called when the library is
// loaded, and again before the runtime has its first thread: a program may set a variable at the beginning of main.
bool options_init();

// Sets the value of OMP_NUM_THREADS for the case that it is not given. Called right after options_init, by the same
// thread.
void options_set_default_threads(int threads);

// A tool has been started: called before the first task.
void options_note_tool();

// Gives one option another value, as if the environment had it. Only while the runtime has no thread but the caller's
// (`alone`), and only for options that have had no effect by then; otherwise kTooLate.
enum class OptionChange { kDone, kTooLate, kMalformed, kUnknown };
[[nodiscard]] OptionChange options_change(const char* name, const char* value, bool alone);

// The pure part of options_init, for tests. `lookup` is getenv or a test's function; the result refers to
// copies of its strings.
using Lookup = const char* (*)(const char* name);
void options_parse(Options& result, Lookup lookup);

}  // namespace marline
