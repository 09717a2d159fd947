// SPDX-License-Identifier: Apache-2.0
//
// The parallel construct: chooses the number of threads and the team, begins and ends the region. Run by the thread
// that encounters it.
#include "construct/parallel/parallel.hpp"

#include "config/options.hpp"
#include "construct/parallel/thread_counts.hpp"
#include "exec/team/barrier.hpp"
#include "exec/team/free_agent.hpp"
#include "exec/team/team.hpp"
#include "exec/view/affinity_display.hpp"
#include "exec/worker/frames.hpp"
#include "exec/worker/suspend.hpp"
#include "exec/worker/worker.hpp"
#include "platform/fp_control.hpp"
#include "platform/mpi_calls.hpp"
#include "platform/thread.hpp"
#include "tool/tool.hpp"

#include <algorithm>

namespace marline {

namespace {

// The number that the program asked for, before any limit.
unsigned requested_threads(const Worker* worker, const ParallelRequest& request) {
  if (!request.if_clause) return 1;
  return static_cast<unsigned>(request.num_threads > 0 ? request.num_threads : worker->task->icvs->num_threads);
}

// A target region on the host starts counting levels from 0, so the regions around it are checked, too.
[[gnu::noinline]] bool is_inside_active_region(const Team* team) {
  while (team->active_level == 0 && team->parent_member != nullptr) team = team->parent_member->team;
  return team->active_level > 0;
}

// With dyn-var: at most as many threads as there are cores for. An outermost region can use all cores, an inner one the
// cores that threads in other regions leave free.
int threads_with_cores(const Team* outer) {
  int cores = cores_per_process();
  return !is_inside_active_region(outer) ? cores : std::max(1, cores - busy_worker_count() + 1);
}

// num_threads(strict: n): dyn-var must not reduce the number.
bool is_strict(const ParallelRequest& request) {
  return request.thread_counts != nullptr && request.thread_counts->severity != ThreadCounts::Severity::kNone;
}

[[gnu::noinline]] int most_for(int wanted) {
  static Atomic<bool> said{false};  // set by any thread
  if (!said.exchange(true, relaxed)) {
    warn("a region asks for %d threads: Marline's teams have at most %d", wanted, kMaxTeam);
  }
  return kMaxTeam;
}

// OpenMP 5.2, section 10.1.1 (algorithm 2.1 of OpenMP 5.1). take_from_group then applies thread-limit-var: a region
// gets the threads that other regions of its contention group leave.
int number_of_threads(const Worker* worker, const ParallelRequest& request) {
  const Team* outer = worker->member->team;
  const Icvs* icvs = worker->task->icvs;
  if (!request.if_clause || outer->active_level >= icvs->max_active_levels) return 1;
  int wanted = request.num_threads > 0 ? request.num_threads : icvs->one_thread ? 1 : icvs->num_threads;
  if (icvs->dynamic && !is_strict(request)) wanted = std::min(wanted, threads_with_cores(outer));
  if (wanted > icvs->thread_limit) wanted = icvs->thread_limit;
  return wanted > kMaxTeam ? most_for(wanted) : wanted;
}

// Null: the region is serialised.
Team* team_for(Worker* worker, int threads, const ParallelRequest& request) {
  if (threads <= 1) return nullptr;
  if (worker->member->team->active_level == 0) {
    if (Team* team = team_hot(worker, threads, request.proc_bind)) return team;
    // Another task of this thread uses the hot team. While the initial task has a region open, regions in its child
    // tasks have one thread. A pool thread in a teams region has no hot team.
    bool bounds_reach = worker->hot_team != nullptr && worker->hot_team->nesting.bounds_reach.load(relaxed);
    if (worker->root && !bounds_reach && !is_inside_active_region(worker->member->team)) return nullptr;
  }
  return team_inner(worker, threads, request.proc_bind);
}

// thread-limit-var limits all regions of a contention group together (OpenMP 5.2, section 2.4). A group is all regions
// of one thread of the program, of one team of a league, or of one target region.
bool is_group_limited(const Worker* worker) { return worker->task->icvs->thread_limit != Options::kNoThreadLimit; }

Team* initial_team_of(Team* team) {
  while (team->level > 0) team = team->parent_member->team;
  return team;
}

// Takes up to `threads` - 1 more threads from the group's limit; returns the number with the calling thread.
[[gnu::noinline]] int take_from_group(const Worker* worker, int threads) {
  Atomic<int>& taken = initial_team_of(worker->member->team)->nesting.group_threads;
  Guard<SpinLock> guard(g_agents_lock);                                       // free agents count, too
  int limit = structured_thread_limit(worker->task->icvs->thread_limit) - 1;  // without the initial thread
  int before = taken.load(relaxed), more;
  do {
    more = std::clamp(limit - before, 0, threads - 1);
  } while (!taken.compare_exchange_weak(before, before + more, relaxed));
  return 1 + more;
}

// Returns threads of a region that a thread of `outer` opened.
[[gnu::noinline]] void give_back_to_group(Team* outer, int threads) {
  initial_team_of(outer)->nesting.group_threads.fetch_sub(threads, relaxed);
}

// Returns threads that the region's team does not use: it may be smaller than asked for, or null (serialised).
[[gnu::noinline]] void settle_with_group(Worker* worker, Team* team, int threads) {
  int used = team == nullptr ? 0 : team->size - 1;
  if (used < threads - 1) give_back_to_group(worker->member->team, threads - 1 - used);
  if (team != nullptr) team->nesting.of_group = used;
}

void set_icvs(Team* team, const Worker* worker) {
  team->icvs = *worker->task->icvs;
  // Each level takes the first element off the list; the last one stays (OpenMP 5.2, section 10.1.1).
  const Options& o = options();
  if (team->level < o.num_threads_count) team->icvs.num_threads = o.num_threads[team->level];
}

// Sets bind-var inside a region with a proc_bind clause.
[[gnu::noinline]] void set_bind_var(Icvs& icvs, int level, const ParallelRequest& request) {
  const Options& o = options();
  const bool listed = level < o.proc_bind_count;  // each level removes the first element of the list, as always
  if (listed || (request.proc_bind & kLeavesBindVar) != 0 || o.proc_bind[0] == ProcBind::kUnbound) return;
  icvs.clause_bind = static_cast<int8_t>(request.proc_bind);
}

void describe(Team* team, Worker* worker, const ParallelRequest& request, uint64_t tool_data) {
  const Team* outer = worker->member->team;
  team->level = outer->level + 1;
  team->active_level = outer->active_level + (team->size > 1 ? 1 : 0);
  team->parent_task = worker->task;
  team->parent_member = worker->member;
  set_icvs(team, worker);
  if (request.proc_bind != 0) [[unlikely]]
    set_bind_var(team->icvs, team->level, request);
  team->thread_counts.held = outer->thread_counts.held;
  if (request.thread_counts != nullptr) [[unlikely]] {
    thread_counts_adopt(team, *request.thread_counts);
    if (request.if_clause) thread_counts_enforce(*request.thread_counts, team->size);
  }
  if (team->thread_counts.held != nullptr) [[unlikely]] {
    team->icvs.num_threads = thread_count_inside(team);
  }
  team->fp_control.read();
  team->run_implicit = request.run_implicit;
  team->microtask = request.microtask;
  team->arguments = request.arguments;
  team->argument_count = request.argument_count;
  team->tool_data = tool_data;
  team->tool_codeptr = request.codeptr;
  if (options().display_affinity) [[unlikely]]
    note_affinity_of_region(team);
}

int tool_flags_of(const ParallelRequest& request) {
  using namespace tool::parallel_bits;
  return kTeam | (request.called_by_program ? kCalledByProgram : kCalledByRuntime);
}

// Before the team is chosen: in this event DLB calls omp_set_num_threads for the region that begins, as LLVM's runtime
// allows. Returns the tool's word for the region.
[[gnu::noinline]] uint64_t announce_begin(Worker* worker, const ParallelRequest& request) {
  ompt::Frame* frame = frame_of(worker->task);
  if (request.called_by_program) {
    set_program_frame(frame, request.program_frame);
  } else {
    set_enter_frame(frame, &request);  // in the frame of the entry point
  }
  uint64_t tool_data = 0;
  if (tool::on(tool::event::kParallel)) {
    tool::parallel_begin(&worker->task->tool_data, frame, &tool_data, requested_threads(worker, request),
                         tool_flags_of(request), request.codeptr);
  }
  return tool_data;
}

// For tools at the region's end, and for debuggers, which stop when they can ask for the region.
[[gnu::noinline]] void note_region(Worker* worker, Team* team, const ParallelRequest& request) {
  team->tool_flags = tool_flags_of(request);
  worker->tool_view.region = team;
  tool::debug_parallel_begin();
  worker->tool_view.region = nullptr;
}

[[gnu::noinline]] void announce_end(Worker* worker, Team* team) {
  if (tool::on(tool::event::kParallel)) {
    worker->tool_view.region = team;
    tool::parallel_end(&team->tool_data, &worker->task->tool_data, team->tool_flags, team->tool_codeptr);
    worker->tool_view.region = nullptr;
  }
  set_enter_frame(frame_of(worker->task), nullptr);
}

}  // namespace

Team* parallel_begin(const ParallelRequest& request) {
  Worker* worker = wait_until_child_may_start(this_worker());  // the implicit task is a tied one
  if (worker->member->team->level == 0) look_for_unserved_mpi_now_and_then();
  uint64_t tool_data = 0;
  if (tool::present()) [[unlikely]] {
    tool_data = announce_begin(worker, request);
  }
  int threads = number_of_threads(worker, request);
  const bool limited = is_group_limited(worker);
  if (limited) [[unlikely]] {
    threads = take_from_group(worker, threads);
  }
  Team* team = team_for(worker, threads, request);
  if (limited) [[unlikely]] {
    settle_with_group(worker, team, threads);
  }
  if (team == nullptr) team = team_serial(worker);
  describe(team, worker, request, tool_data);
  if (tool::present()) [[unlikely]] {
    note_region(worker, team, request);
  }
  team_start(team);
  implicit_task_begin(worker, &team->members[0]);
  return team;
}

void parallel_end() {
  Worker* worker = this_worker();
  Member* member = worker->member;
  Team* team = member->team;
  team_barrier(worker);
  worker = this_worker();
  implicit_task_end(worker, member, team->parent_task, team->parent_member);
  if (team->nesting.of_group != 0) [[unlikely]] {
    give_back_to_group(worker->member->team, team->nesting.of_group);
    team->nesting.of_group = 0;
  }
  if (tool::present()) [[unlikely]] {
    announce_end(worker, team);
  }
  if (team == worker->hot_team) {
    team_hot_release(team);
  } else if (team->nesting.inner) {
    team_inner_release(worker, team);
  } else {
    team_serial_release(worker, team);
  }
}

void parallel(const ParallelRequest& request) {
  Team* team = parallel_begin(request);
  request.run_implicit(team, &team->members[0]);
  parallel_end();
}

}  // namespace marline
