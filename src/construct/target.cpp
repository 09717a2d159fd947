// SPDX-License-Identifier: Apache-2.0
//
// See the header.
#include "construct/target.hpp"

#include "exec/barrier.hpp"
#include "exec/team.hpp"
#include "exec/worker.hpp"
#include "task/own_icvs.hpp"

namespace marline {

namespace {

// As a root thread's team (exec/worker.cpp), but for what lies around it.
void describe(Team* team, Worker* worker, const TargetRegion& region) {
  team->level = 0;
  team->active_level = 0;
  team->parent_task = worker->task;
  team->parent_member = worker->member;
  team->icvs = initial_icvs();
  if (region.thread_limit > 0) team->icvs.thread_limit = region.thread_limit;
  team->thread_counts.held = nullptr;
  team->display_affinity = false;
  team->fp_control.read();
  team->tool_data = 0;
  team->tool_codeptr = nullptr;
}

void announce(Team* team, const Worker* worker, tool::Endpoint endpoint) {
  if (!tool::on(tool::event::kImplicitTask)) return;
  unsigned size = endpoint == tool::Endpoint::kBegin ? 1 : 0;
  tool::implicit_task(endpoint, &team->tool_data, &worker->task->tool_data, size, 1, tool::task_bits::kInitial);
}

}  // namespace

void target_region(Worker* worker, const TargetRegion& region) {
  Team* team = team_serial(worker);
  describe(team, worker, region);
  team_start(team);
  Member* member = &team->members[0];
  implicit_task_begin(worker, member);
  member->implicit_task.flags |= task_flag::kInitial;
  member->implicit_task.flags &= ~task_flag::kFinal;
  announce(team, worker, tool::Endpoint::kBegin);
  region.body(region.data);
  worker = this_worker();  // the same: an implicit task stays on its thread
  team_barrier(worker);
  announce(team, worker, tool::Endpoint::kEnd);
  implicit_task_end(worker, member, team->parent_task, team->parent_member);
  team_serial_release(worker, team);
}

void league_begin(Worker* worker, int teams, int thread_limit) {
  Icvs& icvs = writable_icvs(worker->task, worker->pool);
  icvs.num_teams = teams;
  icvs.team_num = 0;
  if (thread_limit > 0) icvs.thread_limit = thread_limit;
}

bool league_next_team(Worker* worker) {
  Icvs& icvs = writable_icvs(worker->task, worker->pool);
  return ++icvs.team_num < icvs.num_teams;
}

}  // namespace marline
