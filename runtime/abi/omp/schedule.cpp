// SPDX-License-Identifier: Apache-2.0
//
// run-sched-var (OpenMP 5.1, sections 3.2.11 and 3.2.12). omp_sched_t is 1 to 4, with bit 31 for monotonic. Any thread.
#include "abi/omp/current.hpp"
#include "base/check.hpp"

#include <climits>

namespace marline::omp {

namespace {

constexpr uint32_t kMonotonic = 0x80000000u;

void set_schedule(uint32_t kind, int64_t chunk) {
  uint32_t plain = kind & ~kMonotonic;
  if (plain < static_cast<uint32_t>(LoopSchedule::kStatic) || plain > static_cast<uint32_t>(LoopSchedule::kAuto)) {
    warn("omp_set_schedule: %u is no schedule kind of OpenMP's; the schedule stays as it is", plain);
    return;
  }
  Icvs& icvs = own_current_icvs();
  icvs.run_sched_kind = static_cast<LoopSchedule>(plain);
  icvs.run_sched_monotonic = (kind & kMonotonic) != 0;
  bool given = chunk >= 1 && icvs.run_sched_kind != LoopSchedule::kAuto;
  icvs.run_sched_chunk = !given ? 0 : static_cast<int>(chunk < INT_MAX ? chunk : INT_MAX);
}

uint32_t schedule_kind() {
  return with_current_icvs([](const Icvs& icvs) {
    return static_cast<uint32_t>(icvs.run_sched_kind) | (icvs.run_sched_monotonic ? kMonotonic : 0);
  });
}

// The chunk size where none is given: one iteration, or for static one block per thread (0). auto: 1, as LLVM says.
int schedule_chunk() {
  return with_current_icvs([](const Icvs& icvs) {
    bool counted = icvs.run_sched_kind != LoopSchedule::kStatic;
    return icvs.run_sched_chunk == 0 && counted ? 1 : icvs.run_sched_chunk;
  });
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

void omp_set_schedule(uint32_t kind, int chunk) { set_schedule(kind, chunk); }
void ompc_set_schedule(uint32_t kind, int chunk) { set_schedule(kind, chunk); }
void omp_set_schedule_(const uint32_t* kind, const int32_t* chunk) { set_schedule(*kind, *chunk); }
void omp_set_schedule_8_(const uint32_t* kind, const int64_t* chunk) { set_schedule(*kind, *chunk); }
void kmp_set_schedule_8(uint32_t kind, int64_t chunk) { set_schedule(kind, chunk); }
[[gnu::alias("omp_set_schedule_8_")]] void kmp_set_schedule_8_(const uint32_t* kind, const int64_t* chunk);

void omp_get_schedule(uint32_t* kind, int* chunk) {
  *kind = schedule_kind();
  *chunk = schedule_chunk();
}
[[gnu::alias("omp_get_schedule")]] void omp_get_schedule_(uint32_t* kind, int32_t* chunk);
void omp_get_schedule_8_(uint32_t* kind, int64_t* chunk) {
  *kind = schedule_kind();
  *chunk = schedule_chunk();
}
[[gnu::alias("omp_get_schedule_8_")]] void kmp_get_schedule_8_(uint32_t* kind, int64_t* chunk);
[[gnu::alias("omp_get_schedule_8_")]] void kmp_get_schedule_8(uint32_t* kind, int64_t* chunk);

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::omp
