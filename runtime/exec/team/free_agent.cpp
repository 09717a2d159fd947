// SPDX-License-Identifier: Apache-2.0
//
// Calls threads of the pool as free agents, and what such a thread does.
#include "exec/team/free_agent.hpp"

#include "base/check.hpp"
#include "config/options.hpp"
#include "exec/fiber/fiber.hpp"
#include "exec/team/binding.hpp"
#include "exec/team/team.hpp"
#include "exec/worker/completion.hpp"
#include "exec/worker/throttle.hpp"
#include "exec/worker/worker.hpp"
#include "platform/thread.hpp"
#include "sched/idle.hpp"
#include "sched/locality.hpp"
#include "sched/pool_tasks.hpp"
#include "sched/queue.hpp"
#include "tool/tool.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace marline {

SpinLock g_agents_lock;

namespace {

// Under g_agents_lock; the counts are read without it, too.
Worker* g_agents[kMostFreeAgents];     // by slot; null: free
bool g_taken[kMostFreeAgents];         // slots of agents, also of those that are being called
Atomic<int32_t> g_count{0};            // of taken slots
Atomic<int32_t> g_waiting{0};          // agents with nothing to do but unfinished tasks
int32_t g_possible = kMostFreeAgents;  // fewer once the system has refused a thread

// The reservations of OMP_THREADS_RESERVE (OpenMP 6.0, algorithm 4.1). If both do not fit into the thread limit, the
// structured threads come first.
struct Reserved {
  int structured, agents;
};

Reserved reserved(int thread_limit) {
  const Options& o = options();
  int structured = o.reserved_structured == Options::kAllThreads ? thread_limit : o.reserved_structured;
  int agents = o.reserved_agents == Options::kAllThreads ? thread_limit - 1 : o.reserved_agents;
  structured = std::clamp(structured, 1, thread_limit);
  return {structured, std::clamp(agents, 0, thread_limit - structured)};
}

// free-agent-thread-limit-var.
int agent_limit(int thread_limit) {
  return std::min(thread_limit - reserved(thread_limit).structured, kMostFreeAgents);
}

// Reserved agents are called whenever there is a task for them; others only where a core is free. "All" threads of a
// group without a limit are as many as there are cores.
bool is_worth_a_thread(int agents) {
  const int limit = options().thread_limit;
  int kept = reserved(limit).agents;
  if (limit == Options::kNoThreadLimit && options().reserved_agents == Options::kAllThreads) kept = cores_per_process();
  return agents < kept || busy_worker_count() < cores_per_process();
}

Team* initial_team_of(Team* team) {
  while (team->level > 0) team = team->parent_member->team;
  return team;
}

// Whether the contention group's limit leaves room for one more thread.
bool fits_into_group(Team* team, int agents) {
  const int limit = options().thread_limit;
  if (limit == Options::kNoThreadLimit) return true;
  return 1 + initial_team_of(team)->nesting.group_threads.load(relaxed) + agents < limit;
}

// Takes a slot for one more agent; -1: there must not be one more.
int take_slot(Team* team) {
  Guard<SpinLock> guard(g_agents_lock);
  const int agents = g_count.load(relaxed);
  if (agents >= std::min(agent_limit(options().thread_limit), g_possible)) return -1;
  if (!is_worth_a_thread(agents) || !fits_into_group(team, agents)) return -1;
  int slot = 0;
  while (g_taken[slot]) ++slot;
  g_taken[slot] = true;
  g_count.fetch_add(1, seq_cst);
  g_agents_at_work.fetch_add(kAgentBegins, seq_cst);
  return slot;
}

// Under g_agents_lock.
void free_slot(int slot) {
  g_agents[slot] = nullptr;
  g_taken[slot] = false;
  g_count.fetch_sub(1, seq_cst);  // before the agent looks for tasks once more
  g_agents_at_work.fetch_sub(1, seq_cst);
}

void enter_list(Worker* worker) {
  Guard<SpinLock> guard(g_agents_lock);
  g_agents[worker->agent->slot] = worker;
}

template <class T>
T* allocate() {
  void* memory = std::aligned_alloc(alignof(T), sizeof(T));
  if (memory == nullptr) fatal("out of memory for a free agent");
  return new (memory) T;
}

// One that waits for its suspended tasks may take another task meanwhile.
void wake_waiting_agent() {
  Guard<SpinLock> guard(g_agents_lock);
  for (Worker* agent : g_agents) {
    if (agent == nullptr || agent->announced.load(seq_cst) == 0) continue;
    agent->parker.unpark();
    return;
  }
}

void call_agent(Team* team) {
  const int slot = g_count.load(seq_cst) < kMostFreeAgents ? take_slot(team) : -1;
  if (slot < 0) {
    if (g_waiting.load(seq_cst) != 0) wake_waiting_agent();
    return;
  }
  Worker* worker = hire_agent();
  if (worker == nullptr) {
    Guard<SpinLock> guard(g_agents_lock);
    free_slot(slot);
    g_possible = g_count.load(relaxed);
    return;
  }
  if (worker->agent == nullptr) worker->agent = allocate<FreeAgent>();
  worker->agent->slot = slot;
  worker->agent->last = team;
  start_agent(worker);
}

// Where positions of the team's threads end, those of the free agents begin (OpenMP 6.0, section 12.1.3).
void take_place(Worker* worker, const Team* team, int slot) {
  const Member& first = team->members[0];
  if (!binding_wanted() || first.place < 0 || first.partition_count <= 0) return;
  const int at = (first.place - first.partition_first + team->size + slot) % first.partition_count;
  bind_to_place(worker,
                bind_var(team->icvs, team->level - 1) == ProcBind::kPrimary ? first.place : first.partition_first + at);
}

// The agent's place in the team: one that it has, or one of another team without an unfinished task, or a new one.
Member* place_in(Worker* worker, Team* team) {
  static SharedQueue* const kNone[kQueueClasses] = {};
  FreeAgent* agent = worker->agent;
  GuestPlace* place = static_cast<GuestPlace*>(guest_place_in(worker, team));
  if (place == nullptr) {
    for (place = agent->places; place != nullptr && place->running != 0;) place = place->next_place;
  }
  if (place == nullptr) {
    place = allocate<GuestPlace>();
    place->next_place = agent->places;
    agent->places = place;
  }
  const Member& first = team->members[0];
  place->worker = worker;
  place->team = team;
  place->index = kUnassignedThread;
  place->place = worker->binding.place;
  place->partition_first = first.partition_first;
  place->partition_count = first.partition_count;
  place->shared = kNone;
  place->icvs = team->icvs;
  place->implicit_task.icvs = &place->icvs;
  return place;
}

// A pool task of any team, and the agent's place in that team.
Found find_task(Worker* worker) {
  Team* team = team_with_pool_tasks();
  Task* task = team != nullptr ? take_pool_task(worker, team) : nullptr;
  if (task == nullptr) return {};
  if (worker->agent->last != team) {
    wake_one(worker->agent->last);  // its initial thread may wait for the end of the agent's task there
    worker->agent->last = team;
  }
  team->fp_control.install(FpControl::current());
  return {task, place_in(worker, team)};
}

// The initial thread of a program that ends waits until no agent works (exec/worker/worker.cpp).
void rest_from_work(const FreeAgent* agent) {
  g_agents_at_work.fetch_sub(1, seq_cst);
  wake_one(agent->last);
}

// Waits until a suspended task of the agent has ended, or until there is a pool task.
void wait_for_tasks(Worker* worker) {
  g_waiting.fetch_add(1, seq_cst);  // before work_until looks for pool tasks
  rest_from_work(worker->agent);
  work_until(
      [](void* agent) {
        return static_cast<FreeAgent*>(agent)->running == 0 || any_pool_task() || !this_worker()->inbox.empty();
      },
      worker->agent);
  g_agents_at_work.fetch_add(kAgentBegins, seq_cst);  // before the agent takes the task from its inbox
  g_waiting.fetch_sub(1, seq_cst);
}

// False: there is a pool task again, and the thread is still an agent.
bool leave(Worker* worker) {
  FreeAgent* agent = worker->agent;
  {
    Guard<SpinLock> guard(g_agents_lock);
    free_slot(agent->slot);
  }
  wake_one(agent->last);
  // The thread that has queued a task since may have found the agents' number at its limit. seq_cst, as there: either
  // it has seen the free slot, or its task is seen here.
  if (!any_pool_task()) return true;
  const int slot = take_slot(agent->last);
  if (slot < 0) return true;
  agent->slot = slot;
  enter_list(worker);
  return false;
}

// Tasks often come one after the other.
bool tasks_come() {
  constexpr int kLooks = 256;
  for (int i = 0; i < kLooks; ++i) {
    if (any_pool_task()) return true;
    cpu_relax();
  }
  return false;
}

void work(Worker* worker) {
  FreeAgent* agent = worker->agent;
  for (;;) {
    Found found = find_work(worker);  // a suspended task that may go on
    if (!found) found = find_task(worker);
    if (found) {
      run_over_frame(worker, found.member, found.task);
      continue;
    }
    flush_reports(worker);
    if (tasks_come()) continue;
    if (agent->running != 0) {
      wait_for_tasks(worker);
    } else if (leave(worker)) {
      return;
    }
  }
}

// For tools the agent's own implicit task is an initial task: the thread is in no region.
void announce_as_initial(Worker* worker, Team* own, tool::Endpoint endpoint, unsigned size) {
  if (!tool::on(tool::event::kImplicitTask)) return;
  tool::implicit_task(endpoint, &own->tool_data, &worker->task->tool_data, size, 1, tool::task_bits::kInitial);
}

bool takes_part_in_reduction(const Task* parent) {
  for (const Taskgroup* group = parent->taskgroup; group != nullptr; group = group->outer) {
    if (group->reductions != nullptr) return true;
  }
  return false;
}

void begin_use() {
  static Atomic<bool> begun{false};
  if (!begun.exchange(true, relaxed)) pool_begin(call_agent);
}

}  // namespace

bool agents_may_run(const Worker* worker, const Task* task) {
  const Team* team = worker->member->team;
  if (options().strict_constraint || worker->context.called_back || team->share != nullptr) return false;
  if (options().reserved_agents == 0 || agent_limit(options().thread_limit) == 0) return false;
  if (takes_part_in_reduction(task->parent)) return false;
  if (!pool_in_use()) begin_use();
  return true;
}

void run_as_agent(Worker* worker) {
  FreeAgent* agent = worker->agent;
  worker->context.called_back = false;
  follow_cpu_share(worker, nullptr);
  take_place(worker, agent->last, agent->slot);
  enter_list(worker);
  Team* own = begin_initial_task(worker);
  announce_as_initial(worker, own, tool::Endpoint::kBegin, 1);
  worker->fiber->depth = kDeepest;  // so that no task which an agent's task creates starts at once, over its creator
  work(worker);
  worker->fiber->depth = 0;
  announce_as_initial(worker, own, tool::Endpoint::kEnd, 0);
  implicit_task_end(worker, &own->members[0], nullptr, nullptr);
  team_serial_release(worker, own);
  return_to_pool(worker);
}

int structured_thread_limit(int thread_limit) {
  const int whole = options().thread_limit;
  const int structured = whole == Options::kNoThreadLimit ? thread_limit : whole - reserved(whole).agents;
  return std::max(1, std::min({thread_limit, structured, thread_limit - g_count.load(relaxed)}));
}

bool agents_are_done() {
  const uint64_t before = g_agents_at_work.load(seq_cst);
  if (agents_at_work(before) != 0) return false;
  {
    Guard<SpinLock> guard(g_agents_lock);
    for (const Worker* agent : g_agents) {
      if (agent != nullptr && !agent->inbox.empty()) return false;
    }
  }
  return g_agents_at_work.load(seq_cst) == before;
}

void agents_after_fork_in_child() {
  for (int i = 0; i < kMostFreeAgents; ++i) {
    g_agents[i] = nullptr;
    g_taken[i] = false;
  }
  g_count.store(0, relaxed);
  g_waiting.store(0, relaxed);
  g_agents_at_work.store(0, relaxed);
}

}  // namespace marline
