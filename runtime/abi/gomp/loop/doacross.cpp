// SPDX-License-Identifier: Apache-2.0
//
// Doacross loops, as GCC calls them. `counts` has the number of iterations of the loop that threads share (of all
// collapsed loops together) and of each loop inside. Iterations are numbered from 0; a chunk is a range of iterations
// of the loop that threads share.
#include "construct/workshare/doacross.hpp"

#include "abi/gomp/loop/loop.hpp"

#include <cstdarg>

namespace marline::gomp {

namespace {

using Ull = unsigned long long;
static_assert(sizeof(long) == sizeof(uint64_t) && sizeof(Ull) == sizeof(uint64_t));

DoacrossDimension dimension_of(const void* counts, unsigned number) {
  return {static_cast<const uint64_t*>(counts)[number], 0, 1};
}

template <class T>
bool doacross_start(const Schedule& schedule, unsigned dimensions, const T* counts, T* istart, T* iend,
                    Extras extras = {}, const void* codeptr = __builtin_return_address(0)) {
  DoacrossNest nest{dimensions, dimension_of, counts, true};
  extras.doacross = &nest;
  auto rows = static_cast<uint64_t>(counts[0]);
  begin(schedule, {0, rows, 1, rows}, extras, codeptr);
  return istart == nullptr || next(istart, iend);
}

// The values of all dimensions but the first are the function's variable arguments. In loops over unsigned types GCC 12
// also asks for iterations before the first; in loops over 4-byte types its values for existing iterations are 2^32 too
// large.
[[gnu::always_inline]] inline void wait_for(uint64_t first, va_list others) {
  constexpr uint64_t kTooMuch = uint64_t{1} << 32;
  Worker* worker = this_worker();
  uint64_t iteration[kDoacrossDimensions];
  const unsigned dimensions = doacross_dimensions(worker);
  uint64_t value = first;
  for (unsigned i = 0;; value = va_arg(others, uint64_t)) {
    const uint64_t count = doacross_count(worker, i);
    iteration[i] = value >= count && value - kTooMuch < count ? value - kTooMuch : value;
    if (++i == dimensions) break;
  }
  doacross_wait(worker, iteration);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

bool GOMP_loop_doacross_static_start(unsigned n, long* counts, long chunk, long* istart, long* iend) {
  return doacross_start({LoopKind::kStatic, chunk}, n, counts, istart, iend);
}
bool GOMP_loop_doacross_dynamic_start(unsigned n, long* counts, long chunk, long* istart, long* iend) {
  return doacross_start({LoopKind::kDynamic, chunk}, n, counts, istart, iend);
}
bool GOMP_loop_doacross_guided_start(unsigned n, long* counts, long chunk, long* istart, long* iend) {
  return doacross_start({LoopKind::kGuided, chunk}, n, counts, istart, iend);
}
bool GOMP_loop_doacross_runtime_start(unsigned n, long* counts, long* istart, long* iend) {
  return doacross_start({LoopKind::kRuntime}, n, counts, istart, iend);
}
bool GOMP_loop_doacross_start(unsigned n, long* counts, long schedule, long chunk, long* istart, long* iend,
                              uintptr_t* reductions, void** memory) {
  return doacross_start(schedule_of(schedule, chunk, false), n, counts, istart, iend, {reductions, memory});
}

bool GOMP_loop_ull_doacross_static_start(unsigned n, Ull* counts, Ull chunk, Ull* istart, Ull* iend) {
  return doacross_start({LoopKind::kStatic, static_cast<long>(chunk)}, n, counts, istart, iend);
}
bool GOMP_loop_ull_doacross_dynamic_start(unsigned n, Ull* counts, Ull chunk, Ull* istart, Ull* iend) {
  return doacross_start({LoopKind::kDynamic, static_cast<long>(chunk)}, n, counts, istart, iend);
}
bool GOMP_loop_ull_doacross_guided_start(unsigned n, Ull* counts, Ull chunk, Ull* istart, Ull* iend) {
  return doacross_start({LoopKind::kGuided, static_cast<long>(chunk)}, n, counts, istart, iend);
}
bool GOMP_loop_ull_doacross_runtime_start(unsigned n, Ull* counts, Ull* istart, Ull* iend) {
  return doacross_start({LoopKind::kRuntime}, n, counts, istart, iend);
}
bool GOMP_loop_ull_doacross_start(unsigned n, Ull* counts, long schedule, Ull chunk, Ull* istart, Ull* iend,
                                  uintptr_t* reductions, void** memory) {
  return doacross_start(schedule_of(schedule, static_cast<long>(chunk), false), n, counts, istart, iend,
                        {reductions, memory});
}

void GOMP_doacross_post(long* iteration) { doacross_post(this_worker(), reinterpret_cast<uint64_t*>(iteration)); }
void GOMP_doacross_ull_post(Ull* iteration) { doacross_post(this_worker(), reinterpret_cast<uint64_t*>(iteration)); }

void GOMP_doacross_wait(long first, ...) {
  va_list others;
  va_start(others, first);
  wait_for(static_cast<uint64_t>(first), others);
  va_end(others);
}

void GOMP_doacross_ull_wait(Ull first, ...) {
  va_list others;
  va_start(others, first);
  wait_for(first, others);
  va_end(others);
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::gomp
