// SPDX-License-Identifier: Apache-2.0
//
// Leagues (OpenMP 5.1, section 3.4): the team that the current task belongs to, and the device's two control variables.
#include "abi/omp/current.hpp"
#include "construct/parallel/teams.hpp"

namespace marline::omp {

#pragma GCC visibility push(default)
extern "C" {

int omp_get_num_teams() {
  return with_current_icvs([](const Icvs& icvs) { return icvs.num_teams; });
}
[[gnu::alias("omp_get_num_teams")]] int omp_get_num_teams_();

int omp_get_team_num() {
  return with_current_icvs([](const Icvs& icvs) { return icvs.team_num; });
}
[[gnu::alias("omp_get_team_num")]] int omp_get_team_num_();

int omp_get_max_teams() { return max_teams(); }
[[gnu::alias("omp_get_max_teams")]] int omp_get_max_teams_();
void omp_set_num_teams(int teams) { set_max_teams(teams); }
void omp_set_num_teams_(const int32_t* teams) { set_max_teams(*teams); }
void omp_set_num_teams_8_(const int64_t* teams) { set_max_teams(*teams); }
void kmp_set_num_teams_8(int64_t teams) { set_max_teams(teams); }
[[gnu::alias("omp_set_num_teams_8_")]] void kmp_set_num_teams_8_(const int64_t* teams);

int omp_get_teams_thread_limit() { return teams_thread_limit(); }
[[gnu::alias("omp_get_teams_thread_limit")]] int omp_get_teams_thread_limit_();
void omp_set_teams_thread_limit(int limit) { set_teams_thread_limit(limit); }
void omp_set_teams_thread_limit_(const int32_t* limit) { set_teams_thread_limit(*limit); }
void omp_set_teams_thread_limit_8_(const int64_t* limit) { set_teams_thread_limit(*limit); }
void kmp_set_teams_thread_limit_8(int64_t limit) { set_teams_thread_limit(limit); }
[[gnu::alias("omp_set_teams_thread_limit_8_")]] void kmp_set_teams_thread_limit_8_(const int64_t* limit);

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::omp
