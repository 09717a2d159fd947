// SPDX-License-Identifier: Apache-2.0
//
// Leagues (OpenMP 5.1, section 3.4): outside a teams region there is one team, the initial one. The two control
// variables are the device's, so one atomic each serves all threads.
#include "base/atomic.hpp"
#include "config/options.hpp"

#include <algorithm>
#include <climits>

namespace marline::omp {

namespace {

constexpr int kNotSet = -1;
Atomic<int> g_num_teams{kNotSet};     // kNotSet: the option's value
Atomic<int> g_thread_limit{kNotSet};

int value_or(const Atomic<int>& variable, int option) {
  int value = variable.load(relaxed);
  return value == kNotSet ? option : value;
}

void set(Atomic<int>& variable, int64_t value) {
  if (value > 0) variable.store(static_cast<int>(std::min<int64_t>(value, INT_MAX)), relaxed);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int omp_get_num_teams() { return 1; }
[[gnu::alias("omp_get_num_teams")]] int omp_get_num_teams_();

int omp_get_team_num() { return 0; }
[[gnu::alias("omp_get_team_num")]] int omp_get_team_num_();

int omp_get_max_teams() { return value_or(g_num_teams, options().num_teams); }
[[gnu::alias("omp_get_max_teams")]] int omp_get_max_teams_();
void omp_set_num_teams(int teams) { set(g_num_teams, teams); }
void omp_set_num_teams_(const int32_t* teams) { set(g_num_teams, *teams); }
void omp_set_num_teams_8_(const int64_t* teams) { set(g_num_teams, *teams); }

int omp_get_teams_thread_limit() { return value_or(g_thread_limit, options().teams_thread_limit); }
[[gnu::alias("omp_get_teams_thread_limit")]] int omp_get_teams_thread_limit_();
void omp_set_teams_thread_limit(int limit) { set(g_thread_limit, limit); }
void omp_set_teams_thread_limit_(const int32_t* limit) { set(g_thread_limit, *limit); }
void omp_set_teams_thread_limit_8_(const int64_t* limit) { set(g_thread_limit, *limit); }

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::omp
