// SPDX-License-Identifier: Apache-2.0
//
// Calling Clang's outlined functions, which take each captured variable as an argument of its own.
#pragma once

#include <cstdarg>
#include <cstdint>

namespace marline::kmp {

// The most variables that a region may capture. With more, the program ends with a message.
inline constexpr int kMaxArguments = 128;

// Calls microtask(&gtid, &bound_tid, arguments[0], ..., arguments[count - 1]). The array has kMaxArguments entries; the
// entries after the first `count` may hold anything.
//
// exit_frame: gets the address of the calling frame; null: not wanted.
void call_microtask(void* microtask, int32_t gtid, int32_t bound_tid, void** arguments, int32_t count,
                    void** exit_frame = nullptr);

// Ends the program if there are more than kMaxArguments.
void collect_arguments(void** arguments, int32_t count, va_list list);

}  // namespace marline::kmp
