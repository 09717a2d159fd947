// SPDX-License-Identifier: Apache-2.0
//
// Threads and regions (OpenMP 5.1, section 3.2), in C, in Fortran (`_`: by reference; `_8_`: 8-byte integers), and
// under the ompc_ names that LLVM's omp.h has for some. flang of LLVM 24 calls routines with 8-byte integers by names
// that begin with kmp_, and by value (omp_lib.F90). Any thread.
#include "abi/omp/current.hpp"
#include "abi/omp/place_query.hpp"
#include "config/options.hpp"

#include <algorithm>
#include <climits>

namespace marline::omp {

namespace {

int at_least(int64_t value, int least) { return static_cast<int>(std::clamp<int64_t>(value, least, INT_MAX)); }

void set_num_threads(int64_t n) {
  Icvs& icvs = own_current_icvs();
  icvs.num_threads = at_least(n, 1);
  icvs.one_thread = false;
}

// OpenMP 5.1, 3.2.15: a value above the supported number means the supported number; a negative value is ignored.
void set_max_active_levels(int64_t levels) {
  if (levels < 0) return;
  own_current_icvs().max_active_levels = static_cast<int>(std::min<int64_t>(levels, kSupportedActiveLevels));
}

// OpenMP 5.1, 3.2.9: deprecated in favour of omp_set_max_active_levels.
void set_nested(bool nested) { set_max_active_levels(nested ? kSupportedActiveLevels : 1); }

// The current thread's member in the region at `level`; null if there is no such level.
const Member* member_at(int64_t level) {
  return level < 0 || level > INT_MAX ? nullptr : ancestor_member(static_cast<int>(level));
}

int ancestor_thread_num(int64_t level) {
  const Member* member = member_at(level);
  return member != nullptr ? member->index : -1;
}

int team_size(int64_t level) {
  const Member* member = member_at(level);
  return member != nullptr ? member->team->size : -1;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int omp_get_num_threads() { return current_member()->team->size; }
[[gnu::alias("omp_get_num_threads")]] int omp_get_num_threads_();

int omp_get_thread_num() { return current_member()->index; }
[[gnu::alias("omp_get_thread_num")]] int omp_get_thread_num_();

int omp_get_max_threads() {
  return with_current_icvs([](const Icvs& icvs) { return icvs.num_threads; });
}
[[gnu::alias("omp_get_max_threads")]] int omp_get_max_threads_();

void omp_set_num_threads(int n) { set_num_threads(n); }
void ompc_set_num_threads(int n) { set_num_threads(n); }
void omp_set_num_threads_(const int32_t* n) { set_num_threads(*n); }
void omp_set_num_threads_8_(const int64_t* n) { set_num_threads(*n); }
void kmp_set_num_threads_8(int64_t n) { set_num_threads(n); }
[[gnu::alias("kmp_set_num_threads_8")]] void kmpc_set_num_threads_8(int64_t n);
[[gnu::alias("omp_set_num_threads_8_")]] void kmp_set_num_threads_8_(const int64_t* n);

int omp_get_num_procs() { return processors(); }
[[gnu::alias("omp_get_num_procs")]] int omp_get_num_procs_();

int omp_in_parallel() { return current_active_level() > 0 ? 1 : 0; }
[[gnu::alias("omp_in_parallel")]] int omp_in_parallel_();

int omp_get_level() { return current_member()->team->level; }
[[gnu::alias("omp_get_level")]] int omp_get_level_();

int omp_get_active_level() { return current_active_level(); }
[[gnu::alias("omp_get_active_level")]] int omp_get_active_level_();

int omp_get_ancestor_thread_num(int level) { return ancestor_thread_num(level); }
int ompc_get_ancestor_thread_num(int level) { return ancestor_thread_num(level); }
int omp_get_ancestor_thread_num_(const int32_t* level) { return ancestor_thread_num(*level); }
int omp_get_ancestor_thread_num_8_(const int64_t* level) { return ancestor_thread_num(*level); }
int kmp_get_ancestor_thread_num_8(int64_t level) { return ancestor_thread_num(level); }
[[gnu::alias("omp_get_ancestor_thread_num_8_")]] int kmp_get_ancestor_thread_num_8_(const int64_t* level);

int omp_get_team_size(int level) { return team_size(level); }
int ompc_get_team_size(int level) { return team_size(level); }
int omp_get_team_size_(const int32_t* level) { return team_size(*level); }
int omp_get_team_size_8_(const int64_t* level) { return team_size(*level); }
int kmp_get_team_size_8(int64_t level) { return team_size(level); }
[[gnu::alias("omp_get_team_size_8_")]] int kmp_get_team_size_8_(const int64_t* level);

int omp_get_max_active_levels() {
  return with_current_icvs([](const Icvs& icvs) { return std::min(icvs.max_active_levels, kSupportedActiveLevels); });
}
[[gnu::alias("omp_get_max_active_levels")]] int omp_get_max_active_levels_();
void omp_set_max_active_levels(int levels) { set_max_active_levels(levels); }
void ompc_set_max_active_levels(int levels) { set_max_active_levels(levels); }
void omp_set_max_active_levels_(const int32_t* levels) { set_max_active_levels(*levels); }
void omp_set_max_active_levels_8_(const int64_t* levels) { set_max_active_levels(*levels); }
void kmp_set_max_active_levels_8(int64_t levels) { set_max_active_levels(levels); }
[[gnu::alias("omp_set_max_active_levels_8_")]] void kmp_set_max_active_levels_8_(const int64_t* levels);

int omp_get_supported_active_levels() { return kSupportedActiveLevels; }
[[gnu::alias("omp_get_supported_active_levels")]] int omp_get_supported_active_levels_();

int omp_get_nested() { return omp_get_max_active_levels() > 1 ? 1 : 0; }
[[gnu::alias("omp_get_nested")]] int omp_get_nested_();
void omp_set_nested(int nested) { set_nested(nested != 0); }
void ompc_set_nested(int nested) { set_nested(nested != 0); }
void omp_set_nested_(const int32_t* nested) { set_nested(*nested != 0); }
void omp_set_nested_8_(const int64_t* nested) { set_nested(*nested != 0); }

int omp_get_dynamic() {
  return with_current_icvs([](const Icvs& icvs) { return icvs.dynamic ? 1 : 0; });
}
[[gnu::alias("omp_get_dynamic")]] int omp_get_dynamic_();
void omp_set_dynamic(int dynamic) { own_current_icvs().dynamic = dynamic != 0; }
void ompc_set_dynamic(int dynamic) { own_current_icvs().dynamic = dynamic != 0; }
void omp_set_dynamic_(const int32_t* dynamic) { own_current_icvs().dynamic = *dynamic != 0; }
void omp_set_dynamic_8_(const int64_t* dynamic) { own_current_icvs().dynamic = *dynamic != 0; }

int omp_get_thread_limit() {
  return with_current_icvs([](const Icvs& icvs) { return icvs.thread_limit; });
}
[[gnu::alias("omp_get_thread_limit")]] int omp_get_thread_limit_();

int omp_get_cancellation() { return options().cancellation ? 1 : 0; }
[[gnu::alias("omp_get_cancellation")]] int omp_get_cancellation_();

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::omp
