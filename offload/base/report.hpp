// SPDX-License-Identifier: Apache-2.0
//
// Messages of libmarline-target: one line each that says what failed, the value, and what to do. Any thread.
#pragma once

namespace marline::offload {

// Writes "marline: fatal: ..." to stderr and aborts.
[[noreturn]] void fatal(const char* format, ...) __attribute__((format(printf, 1, 2), cold));

// Writes the same line and ends the process with `status`. Runs no exit handlers, as other threads still run and may
// use what the handlers destroy.
[[noreturn]] void end_process(int status, const char* format, ...) __attribute__((format(printf, 2, 3), cold));

// The same with exit code 2: the program's options, or how it was started, cannot be obeyed.
[[noreturn]] void end_by_options(const char* format, ...) __attribute__((format(printf, 1, 2), cold));

// Writes "marline: ..." to stderr if OMP_DISPLAY_ENV=verbose is set.
void note(const char* format, ...) __attribute__((format(printf, 1, 2), cold));

// Writes "marline: warning: ..." to stderr.
void warn(const char* format, ...) __attribute__((format(printf, 1, 2), cold));

}  // namespace marline::offload
