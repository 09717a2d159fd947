// SPDX-License-Identifier: Apache-2.0
//
// Tasks with threadset(omp_pool) (OpenMP 6.0, section 14.8): besides the threads of their team, free agents may run
// them. A free agent is a thread of the pool that is in no team (exec/team/free_agent.hpp). docs/design/free-agents.md
//
// Each team has a queue of its ready pool tasks. The team's threads look there when they find nothing else, and a free
// agent takes a task of any team. One lock protects all these queues: pool tasks are few and not tiny, or they would
// not be worth another thread. A program without such tasks pays for one load when a thread finds no work.
//
// A free agent needs a Member to run a task of a team that it does not belong to: a GuestPlace. It is not in
// Team::members, so no thread of the team finds tasks there, and nothing is ever queued there: what the task creates
// for its team goes to Team::injected.
#pragma once

#include "sched/team.hpp"

namespace marline {

// omp_get_thread_num in a free agent, omp_unassigned_thread in OpenMP's words: a value below -1. Member::index of a
// GuestPlace.
inline constexpr int kUnassignedThread = -2;

// The most free agents at a time.
inline constexpr int kMostFreeAgents = 64;

struct GuestPlace : Member {
  int running = 0;  // tasks that the agent has begun here and not ended
  GuestPlace* next_place = nullptr;
};

// A worker's part as a free agent; made when the worker is one for the first time, and never freed. Owner only.
struct FreeAgent {
  GuestPlace* places = nullptr;  // as many as there were teams with an unfinished task on the agent at the same time
  int running = 0;               // tasks begun and not ended: the sum over all places
  int slot = 0;                  // its number among the free agents, from 0
  Team* last = nullptr;          // of the last task
};

// Set once, before the first pool task is queued. Readers that see it late miss the tasks for a moment only: before it
// sleeps, a thread reads PoolTasks::count.
extern Atomic<bool> g_pool_in_use;
inline bool pool_in_use() { return g_pool_in_use.load(relaxed); }

// Free agents that are running a task or are about to take one. Written by agents and by the threads that call them.
extern Atomic<uint64_t> g_agents_at_work;
inline constexpr uint64_t kAgentBegins = (uint64_t{1} << 32) + 1;  // above: how many times an agent has begun
inline uint32_t agents_at_work(uint64_t value) { return static_cast<uint32_t>(value); }

extern SpinLock g_pool_lock;  // held across fork

inline bool is_pool_task(const Task* task) { return (task->flags & task_flag::kInPool) == task_flag::kInPool; }
inline void keep_in_team(Task* task) { task->flags &= ~task_flag::kInPool; }

inline bool is_guest(const Member* member) { return member->index == kUnassignedThread; }

// Sets what is called when a pool task was queued and no thread of its team sleeps.
void pool_begin(void (*call_agent)(Team*));

// Queues a ready pool task, and wakes a sleeping thread of its team or calls a free agent. The task may have ended when
// this returns.
void offer_to_pool(Task* task);

// The newest queued pool task of the team if `wanted` is null or returns true for it; else null. A free agent keeps the
// task until its end.
Task* take_pool_task(Worker* worker, Team* team, bool (*wanted)(const Task*, const void*) = nullptr,
                     const void* context = nullptr);

// A team that has queued pool tasks, or null. It may have none any more when the caller looks for them.
Team* team_with_pool_tasks();

// seq_cst: the second look of the sleep protocol (sched/idle.hpp).
bool any_pool_task();
inline bool pool_tasks_in_sight(const Team* team) { return team->pool_tasks.count.load(seq_cst) != 0; }

// The worker's place in a team whose tasks it runs, or has run, as a free agent; else null.
Member* guest_place_in(const Worker* worker, const Team* team);

// Called around the body of a pool task.
inline void count_guest_task(const Worker* worker, int change) {
  if (!is_guest(worker->member)) return;
  static_cast<GuestPlace*>(worker->member)->running += change;
  worker->agent->running += change;
}

// Reductions keep one copy of a variable for each thread that may run a task: the number of copies beyond the team's
// size, and the number of the worker's copy.
inline int copies_for_agents() { return pool_in_use() ? kMostFreeAgents : 0; }
inline int copy_number(const Worker* worker) {
  const Member* member = worker->member;
  return is_guest(member) ? member->team->size + worker->agent->slot : member->index;
}

}  // namespace marline
