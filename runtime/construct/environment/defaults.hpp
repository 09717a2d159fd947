// SPDX-License-Identifier: Apache-2.0
//
// Options that a running program may still set: LLVM's kmp_set_defaults, kmp_set_stacksize and kmp_set_blocktime. The
// first two take effect only while the caller's thread is the only thread of the runtime, because all threads read
// options without synchronisation. If the call comes too late or has an unusable value, a warning is printed and
// nothing changes.
#pragma once

#include <cstddef>

namespace marline {

// "NAME=VALUE", or several with `|` in between, for the initial task and threads that are yet to start.
void set_defaults(const char* settings, size_t length);

// For threads that are yet to start.
void set_stack_size(size_t bytes);

// How long idle threads look for work before they sleep, in milliseconds; INT_MAX: they never sleep. Any time, any
// thread.
void set_blocktime(int milliseconds);
int blocktime();

}  // namespace marline
