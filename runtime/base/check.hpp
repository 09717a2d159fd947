// SPDX-License-Identifier: Apache-2.0
//
// Reactions to errors. MARLINE_ASSERT: a condition that cannot be false. fatal: an error that can happen, after which
// the program cannot continue. warn: the program continues. (A user's mistake in a call with an error code is returned
// instead.) Every message is one line with the failure, the value, and what to do. Callable from any thread, on any
// stack with about 2 KiB left; no allocation.
#pragma once

namespace marline {

// Writes "marline: fatal: ..." to stderr and aborts, so that there can be a core file.
[[noreturn]] void fatal(const char* format, ...) __attribute__((format(printf, 1, 2), cold));

// The same if the program itself asks for its end: it exits with status 1, as from main, on the caller's stack.
[[noreturn]] void fatal_as_asked(const char* format, ...) __attribute__((format(printf, 1, 2), cold));

// Whether a thread of this process is in fatal or fatal_as_asked.
bool is_failing();

// Writes "marline: warning: ..." to stderr.
void warn(const char* format, ...) __attribute__((format(printf, 1, 2), cold));

// Switches `warn` off and on again, for all threads.
void set_warnings(bool on);

[[noreturn]] void assertion_failed(const char* condition, const char* file, int line) __attribute__((cold));

}  // namespace marline

#ifdef NDEBUG
#define MARLINE_ASSERT(condition) static_cast<void>(sizeof((condition) ? 1 : 0))
#else
#define MARLINE_ASSERT(condition)                            \
  (__builtin_expect(!!(condition), 1) ? static_cast<void>(0) \
                                      : ::marline::assertion_failed(#condition, __FILE__, __LINE__))
#endif
