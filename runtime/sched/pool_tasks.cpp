// SPDX-License-Identifier: Apache-2.0
//
// The queues of pool tasks.
#include "sched/pool_tasks.hpp"

#include "sched/idle.hpp"

namespace marline {

Atomic<bool> g_pool_in_use{false};
Atomic<uint64_t> g_agents_at_work{0};
SpinLock g_pool_lock;

namespace {

Team* g_teams = nullptr;                // those with queued pool tasks; under g_pool_lock
Atomic<int64_t> g_queued{0};            // pool tasks of all teams; written under g_pool_lock
void (*g_call_agent)(Team*) = nullptr;  // written before g_pool_in_use is set, read by threads that have a pool task

void enter_list(Team* team) {
  team->pool_tasks.previous = nullptr;
  team->pool_tasks.next = g_teams;
  if (g_teams != nullptr) g_teams->pool_tasks.previous = team;
  g_teams = team;
}

void leave_list(Team* team) {
  PoolTasks& links = team->pool_tasks;
  (links.previous != nullptr ? links.previous->pool_tasks.next : g_teams) = links.next;
  if (links.next != nullptr) links.next->pool_tasks.previous = links.previous;
}

bool is_member(const Worker* worker, const Team* team) {
  const Member* m = worker->memberships;
  while (m != nullptr && m->team != team) m = m->next_membership;
  return m != nullptr;
}

}  // namespace

void pool_begin(void (*call_agent)(Team*)) {
  Guard<SpinLock> guard(g_pool_lock);
  g_call_agent = call_agent;
  g_pool_in_use.store(true, relaxed);
}

void offer_to_pool(Task* task) {
  Team* team = task->team;
  {
    Guard<SpinLock> guard(g_pool_lock);
    if (team->pool_tasks.tasks.empty()) enter_list(team);
    team->pool_tasks.tasks.push_front(task);
    // seq_cst: before the look at the sleepers (sched/idle.hpp).
    team->pool_tasks.count.fetch_add(1, seq_cst);
    g_queued.fetch_add(1, seq_cst);
  }
  // The task is not touched any more: it may have ended. Its team's memory is never freed.
  if (!wake_one_of(team, nullptr)) g_call_agent(team);
}

Task* take_pool_task(Worker* worker, Team* team, bool (*wanted)(const Task*, const void*), const void* context) {
  if (team->pool_tasks.count.load(relaxed) == 0) return nullptr;
  Guard<SpinLock> guard(g_pool_lock);
  PoolTasks& queue = team->pool_tasks;
  if (queue.tasks.empty() || (wanted != nullptr && !wanted(queue.tasks.head, context))) return nullptr;
  Task* task = queue.tasks.pop_front();
  queue.count.fetch_sub(1, relaxed);
  g_queued.fetch_sub(1, relaxed);
  if (queue.tasks.empty()) leave_list(team);
  // An untied task that blocks on a free agent is resumed there, not by a thread of the team.
  if (worker->agent != nullptr && !is_member(worker, team)) task->flags |= task_flag::kPinned;
  return task;
}

Team* team_with_pool_tasks() {
  if (g_queued.load(relaxed) == 0) return nullptr;
  Guard<SpinLock> guard(g_pool_lock);
  return g_teams;
}

bool any_pool_task() { return g_queued.load(seq_cst) != 0; }

Member* guest_place_in(const Worker* worker, const Team* team) {
  if (worker->agent == nullptr) return nullptr;
  for (GuestPlace* place = worker->agent->places; place != nullptr; place = place->next_place) {
    if (place->team == team) return place;
  }
  return nullptr;
}

}  // namespace marline
