/* SPDX-License-Identifier: Apache-2.0
 *
 * What a tool hears of a league: one parallel region, an initial task for each team, one after the other on the thread
 * that encounters it, and no regions but the ones that the program opens (docs/design/ompt.md: where Marline differs).
 *
 * Covers: teams(num_teams), parallel
 */
#define TOOL_ENDS
#include "../tool.h"
#include <omp.h>

enum { kTeams = 3, kLeagues = 2 };

static int leagues, regions, teams_begun, teams_ended, open_teams;

static void on_parallel_begin(ompt_data_t* task, const ompt_frame_t* frame, ompt_data_t* parallel, unsigned requested,
                              int flags, const void* code) {
  if (flags & ompt_parallel_league) {
    CHECK_EQ(requested, kTeams);
    leagues++;
  } else {
    regions++;
  }
}

/* An initial task in a league has the number of teams, the program's own has 1. */
static void on_implicit_task(ompt_scope_endpoint_t endpoint, ompt_data_t* parallel, ompt_data_t* task, unsigned size,
                             unsigned index, int flags) {
  if (!(flags & ompt_task_initial) || leagues == 0) return;
  if (endpoint == ompt_scope_begin) {
    CHECK_EQ(size, kTeams);
    CHECK_EQ(index, (unsigned)(teams_begun++ % kTeams));
    CHECK_EQ(open_teams++, 0);
  } else if (open_teams > 0) { /* else the program's own */
    open_teams--;
    teams_ended++;
  }
}

static void tool_callbacks(ompt_set_callback_t set_callback) {
  set_callback(ompt_callback_parallel_begin, (ompt_callback_t)on_parallel_begin);
  set_callback(ompt_callback_implicit_task, (ompt_callback_t)on_implicit_task);
}

static void tool_ends(void) {
  CHECK_EQ(leagues, kLeagues);
  CHECK_EQ(regions, kTeams);
  CHECK_EQ(teams_begun, kLeagues * kTeams);
  CHECK_EQ(teams_ended, kLeagues * kTeams);
}

int main(void) {
  int teams = 0, threads = 0;
#pragma omp teams num_teams(kTeams) reduction(+ : teams)
  teams++;
  CHECK_EQ(teams, kTeams);
#pragma omp teams num_teams(kTeams) reduction(+ : threads)
  {
#pragma omp parallel num_threads(2) reduction(+ : threads)
    threads++;
  }
  CHECK(threads >= kTeams);
  return 0;
}
