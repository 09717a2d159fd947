// SPDX-License-Identifier: Apache-2.0
//
// Memory, teams on the host, cancellation and error, as GCC calls them.
#include "base/check.hpp"
#include "config/options.hpp"
#include "construct/allocator.hpp"
#include "construct/cancel.hpp"
#include "construct/loop.hpp"
#include "exec/barrier.hpp"

namespace marline::gomp {

namespace {

// The message of an error directive need not end with a null byte if its length is given (-1: it does).
int shown(const char* message, size_t length) {
  constexpr size_t kMost = 1000;
  if (message == nullptr) return 0;
  return static_cast<int>(length < kMost ? length : kMost);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

void* GOMP_alloc(size_t alignment, size_t bytes, uintptr_t handle) {
  return allocator_allocate(handle, alignment, bytes);
}
void GOMP_free(void* memory, uintptr_t) { allocator_free(memory); }

// A league of one team, which is the initial one.
void GOMP_teams_reg(void (*function)(void*), void* data, unsigned, unsigned, unsigned) { function(data); }

bool GOMP_cancel(int, bool) { return cancel_requested(); }
bool GOMP_cancellation_point(int) { return false; }

bool GOMP_barrier_cancel() {
  team_barrier(this_worker(), tool::SyncRegion::kBarrierExplicit, __builtin_return_address(0));
  return false;
}

bool GOMP_loop_end_cancel() {
  loop_leave(this_worker());
  team_barrier(this_worker(), tool::SyncRegion::kBarrierImplicitWorkshare, __builtin_return_address(0));
  return false;
}

bool GOMP_sections_end_cancel() { return GOMP_loop_end_cancel(); }

void GOMP_warning(const char* message, size_t length) {
  warn("error directive: %.*s", shown(message, length), message != nullptr ? message : "");
}

void GOMP_error(const char* message, size_t length) {
  fatal("error directive: %.*s", shown(message, length), message != nullptr ? message : "");
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::gomp
