// SPDX-License-Identifier: Apache-2.0
//
// The teams construct on the host (OpenMP 5.2, section 10.2). Each team of the league is a contention group of its own:
// an initial task on a team of one thread, at nesting level 0. The team's number and the number of teams are control
// variables (task/icvs.hpp), so all tasks and regions inside inherit them (docs/design/leagues.md).
#pragma once

#include "sched/team.hpp"

namespace marline {

struct LeagueRequest {
  // The construct's body, called once per team in its initial task, by several threads at a time.
  void (*run)(void* context);
  void* context;  // alive until the construct ends
  // From num_teams: both bounds or only the upper one; 0: not given.
  int lower = 0, upper = 0;
  int thread_limit = 0;           // 0: not given
  const void* codeptr = nullptr;  // return address into the program, for tools
};

// Returns when all teams have ended.
void teams(const LeagueRequest& request);

// The number of teams that the clause asks for, or else nteams-var.
int league_size(const Worker* worker, int lower, int upper);

// nteams-var and teams-thread-limit-var of the device, for any thread. 0: not set. A value below 1 is ignored.
int max_teams();
int teams_thread_limit();
void set_max_teams(int64_t count);
void set_teams_thread_limit(int64_t limit);

// Whether the current task is the initial task of a team that may run at the same time as other teams of its league,
// and is in no parallel region of that team.
inline bool is_beside_other_teams(const Worker* worker) {
  return worker->member->team->level == 0 && worker->task->icvs->num_teams > 1;
}

}  // namespace marline
