// SPDX-License-Identifier: Apache-2.0
//
// Runs target regions on the host, and the teams constructs in them.
#include "construct/device/target.hpp"

#include "base/clock.hpp"
#include "construct/device/short_kernels.hpp"
#include "exec/team/barrier.hpp"
#include "exec/team/team.hpp"
#include "exec/worker/suspend.hpp"
#include "exec/worker/worker.hpp"
#include "platform/thread.hpp"
#include "task/own_icvs.hpp"

#include <algorithm>

namespace marline {

namespace {

void announce(Team* team, const Worker* worker, tool::Endpoint endpoint) {
  if (!tool::on(tool::event::kImplicitTask)) return;
  unsigned size = endpoint == tool::Endpoint::kBegin ? 1 : 0;
  tool::implicit_task(endpoint, &team->tool_data, &worker->task->tool_data, size, 1, tool::task_bits::kInitial);
}

void run_body(const TargetRegion& region) {
  region.body(region.data);
  team_barrier(this_worker());  // the worker has not changed: an implicit task stays on its thread
}

// Runs the region with one thread or with all, whichever is faster if the kernel is short.
void run_measured(Worker* worker, const TargetRegion& region) {
  KernelTimes& times = times_of_kernel(region.kernel);
  const bool alone = times.begin(region.kernel);
  worker->member->icvs.one_thread = alone;
  const uint64_t begin = nanoseconds_now();
  run_body(region);
  times.end(alone, nanoseconds_now() - begin);
}

}  // namespace

void target_region(Worker* worker, const TargetRegion& region) {
  worker = wait_until_child_may_start(worker);  // the initial task is a tied one
  Team* team = team_serial(worker);
  team_describe_initial(team, initial_icvs(), worker->member);
  team->parent_task = worker->task;
  if (worker->binding.share != nullptr) team->icvs.num_threads = worker->binding.share->threads;
  // As in teams regions, the clause can lower OMP_THREAD_LIMIT, but not raise it.
  if (region.thread_limit > 0) team->icvs.thread_limit = std::min(region.thread_limit, team->icvs.thread_limit);
  team->icvs.device_num = region.device;
  team_start(team);
  Member* member = &team->members[0];
  implicit_task_begin(worker, member);
  member->implicit_task.flags |= task_flag::kInitial;
  member->implicit_task.flags &= ~task_flag::kFinal;
  announce(team, worker, tool::Endpoint::kBegin);
  region.kernel != 0 && team->icvs.num_threads > 1 ? run_measured(worker, region) : run_body(region);
  announce(team, worker, tool::Endpoint::kEnd);
  implicit_task_end(worker, member, team->parent_task, team->parent_member);
  team_serial_release(worker, team);
}

void league_begin(Worker* worker, int teams, int thread_limit) {
  Icvs& icvs = writable_icvs(worker->task, worker->pool);
  icvs.num_teams = teams;
  icvs.team_num = 0;
  if (thread_limit > 0) icvs.thread_limit = std::min(icvs.thread_limit, thread_limit);
  // The teams run one after the other: each may have all cores (construct/parallel/teams.cpp, divide_threads).
  if (teams > 1) icvs.thread_limit = std::min(icvs.thread_limit, cores_per_process());
}

bool league_next_team(Worker* worker) {
  Icvs& icvs = writable_icvs(worker->task, worker->pool);
  return ++icvs.team_num < icvs.num_teams;
}

}  // namespace marline
