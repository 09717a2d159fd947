// SPDX-License-Identifier: Apache-2.0
//
// How a wire ends the process: by its user's WireUser::fail, with one line. Any thread.
#pragma once

#include "wire/base/wire.hpp"

namespace marline::offload::wire {

[[noreturn]] void give_up(const WireUser& user, const char* format, ...) __attribute__((format(printf, 2, 3), cold));

}  // namespace marline::offload::wire
