// SPDX-License-Identifier: Apache-2.0
//
// Memory, teams on the host, cancellation and error, as GCC calls them.
#include "config/options.hpp"
#include "construct/environment/allocator.hpp"
#include "construct/environment/error.hpp"
#include "construct/environment/fortran_scalars.hpp"
#include "construct/parallel/teams.hpp"
#include "construct/sync/cancel.hpp"
#include "construct/workshare/loop.hpp"

#include <algorithm>
#include <climits>
#include <cstring>

namespace marline::gomp {

namespace {

int clamped(unsigned number) { return static_cast<int>(std::min<unsigned>(number, INT_MAX)); }

// GCC passes the length of a Fortran message; for a C string it passes a length with all bits set.
void say(int severity, const char* message, size_t length, const void* codeptr) {
  if (length == SIZE_MAX) length = message != nullptr ? std::strlen(message) : 0;
  error_directive({.severity = severity, .message = message, .length = length, .codeptr = codeptr});
}

// The `which` of GOMP_cancel (GCC, libgomp/libgomp.h): one bit per kind, in the order of CancelKind.
CancelKind kind_of(int which) { return static_cast<CancelKind>(__builtin_ctz(static_cast<unsigned>(which))); }

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

void* GOMP_alloc(size_t alignment, size_t bytes, uintptr_t handle) {
  return allocator_allocate(handle, alignment, bytes);
}
void GOMP_free(void* memory, uintptr_t handle) { allocator_free(memory, handle); }

// gfortran's allocatable scalars, from GCC 14 on.
void GOMP_add_alloc(void* memory) { fortran_scalar_add(memory); }
bool GOMP_is_alloc(void* memory) { return fortran_scalar_take(memory); }

// 0: the clause is not given.
void GOMP_teams_reg(void (*function)(void*), void* data, unsigned num_teams, unsigned thread_limit, unsigned) {
  teams({.run = function,
         .context = data,
         .upper = clamped(num_teams),
         .thread_limit = clamped(thread_limit),
         .codeptr = __builtin_return_address(0)});
}

bool GOMP_cancel(int which, bool if_clause) {
  const void* codeptr = __builtin_return_address(0);
  Worker* worker = this_worker();
  return if_clause ? cancel(worker, kind_of(which), codeptr) : cancellation_point(worker, kind_of(which), codeptr);
}

bool GOMP_cancellation_point(int which) {
  return cancellation_point(this_worker(), kind_of(which), __builtin_return_address(0));
}

bool GOMP_barrier_cancel() {
  return cancellable_barrier(this_worker(), tool::SyncRegion::kBarrierExplicit, __builtin_return_address(0));
}

bool GOMP_loop_end_cancel() {
  loop_leave(this_worker());
  return cancellable_barrier(this_worker(), tool::SyncRegion::kBarrierImplicitWorkshare, __builtin_return_address(0));
}

[[gnu::alias("GOMP_loop_end_cancel")]] bool GOMP_sections_end_cancel();

void GOMP_warning(const char* message, size_t length) {
  say(kSeverityWarning, message, length, __builtin_return_address(0));
}

void GOMP_error(const char* message, size_t length) {
  say(kSeverityFatal, message, length, __builtin_return_address(0));
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::gomp
