// SPDX-License-Identifier: Apache-2.0
//
// Ends the process with one line. Any thread.
#pragma once

#include "wire/mpi/state.hpp"

namespace marline::offload::wire {

[[noreturn]] void give_up(const WireUser* user, const char* format, ...) __attribute__((format(printf, 2, 3), cold));

// `peer`: the other process of the call, or -1.
[[noreturn]] void give_up_after(const Wire* wire, int result, const char* call, int peer) __attribute__((cold));

inline void check(const Wire* wire, int result, const char* call, int peer = -1) {
  if (result != MPI_SUCCESS) [[unlikely]]
    give_up_after(wire, result, call, peer);
}

// Returns zeroed memory; ends the process if there is none.
[[nodiscard]] void* take_memory(const WireUser* user, size_t bytes);

}  // namespace marline::offload::wire
