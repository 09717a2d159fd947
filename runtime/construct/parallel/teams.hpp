// SPDX-License-Identifier: Apache-2.0
//
// The teams construct on the host (OpenMP 5.2, section 10.2). Each team of the league is a contention group of its own:
// an initial task on a team of one thread, at nesting level 0. The team's number and the number of teams are control
// variables (task/icvs.hpp), so all tasks and regions inside inherit them (docs/design/leagues.md).
#pragma once

#include "sched/team.hpp"

namespace marline {

struct LeagueRequest {
  void (*run)(
      void* context);  // the construct's body, called once per team in its initial task, by several threads at a time
  void* context;       // alive until the construct ends
  int lower = 0, upper = 0;       // num_teams, both or the upper only; 0: not given
  int thread_limit = 0;           // 0: not given
  const void* codeptr = nullptr;  // return address into the program, for tools
};

// Returns when all teams have ended.
void teams(const LeagueRequest& request);

// How many teams the clause, or else nteams-var, asks for.
int league_size(const Worker* worker, int lower, int upper);

// nteams-var and teams-thread-limit-var, which are the device's: any thread. 0: not set. Setting to less than 1 does
// nothing.
int max_teams();
int teams_thread_limit();
void set_max_teams(int64_t count);
void set_teams_thread_limit(int64_t limit);

// The current task is one of a league whose teams may run at the same time, and belongs to no parallel region in it.
inline bool is_beside_other_teams(const Worker* worker) {
  return worker->member->team->level == 0 && worker->task->icvs->num_teams > 1;
}

}  // namespace marline
