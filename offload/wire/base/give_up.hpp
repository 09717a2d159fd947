// SPDX-License-Identifier: Apache-2.0
//
// Ends the process for a wire: formats one line and calls WireUser::fail. Any thread.
#pragma once

#include "wire/base/wire.hpp"

namespace marline::offload::wire {

[[noreturn]] void give_up(const WireUser& user, const char* format, ...) __attribute__((format(printf, 2, 3), cold));

}  // namespace marline::offload::wire
