// SPDX-License-Identifier: Apache-2.0
//
// Leagues. The encountering thread takes the next team from a common counter until no team is left. If the program has
// enough threads for more than one team, threads of the pool do the same. Teams must not synchronise with each other,
// so any number of threads can execute the league, even one.
#include "construct/parallel/teams.hpp"

#include "config/options.hpp"
#include "exec/team/barrier.hpp"
#include "exec/team/binding.hpp"
#include "exec/team/team.hpp"
#include "exec/worker/frames.hpp"
#include "exec/worker/suspend.hpp"
#include "platform/thread.hpp"
#include "tool/tool.hpp"

#include <algorithm>
#include <climits>

namespace marline {

namespace {

constexpr int kNotSet = -1;
Atomic<int> g_max_teams{kNotSet};  // kNotSet: the option's value; set and read by any thread
Atomic<int> g_thread_limit{kNotSet};

int value_or(const Atomic<int>& variable, int option) {
  int value = variable.load(relaxed);
  return value == kNotSet ? option : value;
}

void set(Atomic<int>& variable, int64_t value) {
  if (value > 0) variable.store(static_cast<int>(std::min<int64_t>(value, INT_MAX)), relaxed);
}

struct League {
  const LeagueRequest* request;
  // The initial tasks start with these values, except team_num.
  Icvs icvs;
  int threads_at_once;
  uint64_t tool_data = 0;
  // The first team that no thread has taken; incremented by the league's threads.
  Atomic<int> next{0};
};

// Runs as many teams at once as there are threads for them, and gives each an even share of the threads, up to its
// limit. A league may have many teams, and each may ask for many threads: together they get no more threads than there
// are cores, whatever their limit (OpenMP 5.2, section 13.3: it is an upper bound). For a single team, only its limit
// applies.
void divide_threads(League& league, int threads, int limit) {
  const int teams = league.icvs.num_teams;
  if (teams > 1) threads = std::min(threads, cores_per_process());
  league.threads_at_once = std::min({teams, threads, kMaxTeam});
  const int share = threads / league.threads_at_once;
  league.icvs.num_threads = limit > 0 ? std::min(limit, share) : share;
  if (limit > 0) league.icvs.thread_limit = std::min(limit, league.icvs.thread_limit);
  if (teams > 1) league.icvs.thread_limit = std::min(share, league.icvs.thread_limit);
}

void announce_team(Worker* worker, Team* team, tool::Endpoint endpoint) {
  if (!tool::on(tool::event::kImplicitTask)) return;
  bool begin = endpoint == tool::Endpoint::kBegin;
  tool::implicit_task(endpoint, begin ? &team->tool_data : nullptr, &worker->task->tool_data,
                      begin ? static_cast<unsigned>(team->icvs.num_teams) : 0,
                      static_cast<unsigned>(team->icvs.team_num), tool::task_bits::kInitial);
}

void run_team(Worker* worker, const League& league, int number) {
  Task* task = worker->task;
  Member* member = worker->member;
  Team* team = team_serial(worker);
  team_describe_initial(team, league.icvs, member);
  team->tool_data = league.tool_data;
  team->icvs.team_num = number;
  implicit_task_begin(worker, &team->members[0]);
  announce_team(worker, team, tool::Endpoint::kBegin);
  call_of(worker->task, league.request->run, league.request->context);
  worker = this_worker();  // the worker has not changed: an implicit task is tied
  team_barrier(worker);
  announce_team(worker, team, tool::Endpoint::kEnd);
  implicit_task_end(worker, &team->members[0], task, member);
  team_serial_release(worker, team);
}

void run_teams(League& league) {
  for (;;) {
    int number = league.next.fetch_add(1, relaxed);
    if (number >= league.icvs.num_teams) return;
    run_team(this_worker(), league, number);
  }
}

// Null: one thread runs the league. If each team has one thread, no region inside needs the hot team. So the league
// uses the hot team if it has the right number of threads, or if there is none yet: its threads are awake if a region
// has ended just now. With threads of the pool in addition there would be more threads than cores, and waiting threads
// would soon sleep.
Team* team_for_league(Worker* worker, const League& league) {
  // OpenMP does not say which part of the place list each team gets: choose parts that differ as much as possible.
  constexpr int kSpread = static_cast<int>(ProcBind::kSpread);
  const Team* hot = worker->hot_team;
  if (league.icvs.thread_limit == 1 && (hot == nullptr || hot->size == league.threads_at_once)) {
    Team* team = team_hot(worker, league.threads_at_once, binding_wanted() ? kSpread : 0);
    if (team != nullptr) {
      team->nesting.bounds_reach.store(true, relaxed);  // as for a team of the pool's threads
      return team;
    }
  }
  return team_inner(worker, league.threads_at_once, kSpread);
}

void release(Worker* worker, Team* team) {
  team == worker->hot_team ? team_hot_release(team) : team_inner_release(worker, team);
}

// Runs the league with several threads. Their implicit tasks are visible neither to the program nor to a tool.
bool run_side_by_side(Worker* worker, League& league) {
  Team* team = team_for_league(worker, league);
  if (team == nullptr) return false;
  Task* task = worker->task;
  Member* member = worker->member;
  team_describe_initial(team, league.icvs, member);
  team->tool_data = league.tool_data;
  team->microtask = &league;
  team->run_implicit = [](Team* own, Member*) { run_teams(*static_cast<League*>(own->microtask)); };
  team_start(team);
  implicit_task_begin(worker, &team->members[0]);
  run_teams(league);
  team_withdraw(team);  // a thread that has not started yet is not needed any more
  team_barrier(this_worker());
  implicit_task_end(worker, &team->members[0], task, member);
  release(worker, team);
  return true;
}

// Whether one thread must run the league. Inside an active region (also a target region there, on the host) the other
// threads are busy already.
bool is_alone(const Worker* worker) { return worker->member->team->active_level > 0 || worker->task->icvs->one_thread; }

void announce_begin(Task* task, League& league) {
  using namespace tool::parallel_bits;
  ompt::Frame* frame = frame_of(task);
  set_enter_frame(frame, &league);  // in the frame of the calling entry point
  tool::parallel_begin(&task->tool_data, frame, &league.tool_data, static_cast<unsigned>(league.icvs.num_teams),
                       kLeague | kCalledByRuntime, league.request->codeptr);
}

void announce_end(Task* task, League& league) {
  using namespace tool::parallel_bits;
  tool::parallel_end(&league.tool_data, &task->tool_data, kLeague | kCalledByRuntime, league.request->codeptr);
  set_enter_frame(frame_of(task), nullptr);
}

}  // namespace

int max_teams() { return value_or(g_max_teams, options().num_teams); }
int teams_thread_limit() { return value_or(g_thread_limit, options().teams_thread_limit); }
void set_max_teams(int64_t count) { set(g_max_teams, count); }
void set_teams_thread_limit(int64_t limit) { set(g_thread_limit, limit); }

int league_size(const Worker* worker, int lower, int upper) {
  if (upper <= 0) return std::max(1, max_teams());
  if (lower <= 0) return upper;  // OpenMP 5.2, section 10.2.1: exactly as many
  return std::clamp(worker->task->icvs->num_threads, std::min(lower, upper), upper);
}

void teams(const LeagueRequest& request) {
  Worker* worker = wait_until_child_may_start(this_worker());  // the initial task is a tied one
  League league{&request, *worker->task->icvs, 1};
  league.icvs.team_num = 0;
  league.icvs.num_teams = league_size(worker, request.lower, request.upper);
  int threads = is_alone(worker) ? 1 : std::min(league.icvs.num_threads, league.icvs.thread_limit);
  divide_threads(league, threads, request.thread_limit > 0 ? request.thread_limit : teams_thread_limit());
  if (tool::present()) [[unlikely]] {
    announce_begin(worker->task, league);
  }
  // Tools expect the events of a thread to belong to tasks of which they have been notified.
  bool one_by_one = league.threads_at_once == 1 || tool::present();
  if (one_by_one || !run_side_by_side(worker, league)) run_teams(league);
  if (tool::present()) [[unlikely]] {
    announce_end(this_worker()->task, league);
  }
}

}  // namespace marline
