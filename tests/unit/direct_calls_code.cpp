// SPDX-License-Identifier: Apache-2.0
//
// Functions for device_direct_calls_test.cpp, which is built with this file twice: CALLS is a struct for calls by stubs
// of the procedure linkage table, and one for calls by the global offset table (-fno-plt).
#include "direct_calls_code.hpp"

#include <unistd.h>

namespace marline::target {

namespace {

[[gnu::noinline]] int by_call() { return static_cast<int>(getppid()) + 1; }
[[gnu::noinline]] int by_jump() { return static_cast<int>(getppid()); }
[[gnu::noinline]] int behind_another() { return by_call() + 1; }
[[gnu::noinline]] int another_name() { return static_cast<int>(getpgrp()) + 1; }
[[gnu::noinline]] int none() { return 7; }

}  // namespace

extern const Calls CALLS;
const Calls CALLS = {by_call, by_jump, behind_another, another_name, none};

}  // namespace marline::target
