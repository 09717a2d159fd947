// SPDX-License-Identifier: Apache-2.0
//
// Memory, teams on the host, cancellation and error, as GCC calls them.
#include "base/check.hpp"
#include "config/options.hpp"
#include "construct/cancel.hpp"
#include "construct/loop.hpp"
#include "construct/memory.hpp"
#include "exec/barrier.hpp"

#include <cstdlib>

namespace marline::gomp {

#pragma GCC visibility push(default)
extern "C" {

void* GOMP_alloc(size_t alignment, size_t bytes, uintptr_t) { return memory_allocate(alignment, bytes); }
void GOMP_free(void* memory, uintptr_t) { std::free(memory); }

// A league of one team, which is the initial one.
void GOMP_teams_reg(void (*function)(void*), void* data, unsigned, unsigned, unsigned) { function(data); }

bool GOMP_cancel(int, bool) { return cancel_requested(); }
bool GOMP_cancellation_point(int) { return false; }

bool GOMP_barrier_cancel() {
  team_barrier(this_worker());
  return false;
}

bool GOMP_loop_end_cancel() {
  loop_leave(this_worker());
  return GOMP_barrier_cancel();
}

bool GOMP_sections_end_cancel() { return GOMP_loop_end_cancel(); }

// The error directive. The message need not end with a null byte if its length is given (-1: it does).
void GOMP_warning(const char* message, size_t length) {
  warn("error directive: %.*s", length == ~size_t{0} ? 1 << 16 : static_cast<int>(length), message ? message : "(none)");
}

void GOMP_error(const char* message, size_t length) {
  fatal("error directive: %.*s", length == ~size_t{0} ? 1 << 16 : static_cast<int>(length), message ? message : "(none)");
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::gomp
