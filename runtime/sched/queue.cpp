// SPDX-License-Identifier: Apache-2.0
//
// Queues ready tasks, chooses the next task, and steals.
#include "sched/queue.hpp"

#include "base/check.hpp"
#include "base/futex.hpp"
#include "base/sanitizer.hpp"
#include "config/options.hpp"
#include "sched/constraint.hpp"
#include "sched/idle.hpp"
#include "sched/pool_tasks.hpp"
#include "sched/progress.hpp"
#include "tool/tool.hpp"

namespace marline {

Atomic<bool> g_measures_tied_waits{false};

// xorshift32 (Marsaglia, 2003).
uint32_t next_random(Worker* worker) {
  uint32_t x = worker->random;
  x ^= x << 13;
  x ^= x >> 17;
  x ^= x << 5;
  return worker->random = x;
}

namespace {

Member* membership_in(Worker* worker, const Team* team) {
  if (worker->member != nullptr && worker->member->team == team) return worker->member;
  for (Member* m = worker->memberships; m != nullptr; m = m->next_membership) {
    if (m->team == team) return m;
  }
  return guest_place_in(worker, team);
}

Task* pop_resumed(Worker* worker) {
  if (Task* chain = reversed<Task, &Task::next>(worker->inbox.take_all())) {
    while (chain != nullptr) {
      Task* next = chain->next;
      worker->resumed.push_back(chain);
      chain = next;
    }
  }
  Task* task = worker->resumed.pop_front();
  if (task != nullptr && g_measures_tied_waits.load(relaxed)) [[unlikely]]
    worker->tied_waits.count_resumed();
  return task;
}

Task* steal_from(Member* victim) {
  bool lost = true;
  while (lost) {
    lost = false;
    Task* task = victim->deque.steal(&lost);
    if (task == nullptr) continue;
    prefetch_task(task);
    return task;
  }
  return nullptr;
}

Task* pop_yielded(Member* victim) {
  if (victim->yielded_count.load(seq_cst) == 0) return nullptr;
  Guard<SpinLock> guard(victim->yielded_lock);
  Task* task = victim->yielded.pop_front();
  if (task != nullptr) victim->yielded_count.fetch_sub(1, relaxed);
  return task;
}

// Takes a task from the member's own deque, by the scheduling policy.
Task* pop_own_deque(Worker* worker, Member* member) {
  switch (options().schedule.policy) {
    case SchedulePolicy::kLifo: return member->deque.pop();
    case SchedulePolicy::kFifo: return steal_from(member);
    case SchedulePolicy::kRandom: break;
  }
  // Half of the draws leave the task to another thread, so that even very short tasks run on several threads.
  uint32_t drawn = next_random(worker) >> 8;
  if ((drawn & 2) != 0 && member->team->size > 1) return nullptr;
  return (drawn & 1) != 0 ? steal_from(member) : member->deque.pop();
}

// A task that a thread outside the team made ready; moves the rest of the chain to the own deque.
Task* take_injected(Worker* worker, Member* member) {
  Task* chain = reversed<Task, &Task::next>(member->team->injected.take_all());
  if (chain == nullptr) return nullptr;
  Task* first = chain;
  for (Task* task = chain->next; task != nullptr;) {
    Task* next = task->next;
    enqueue(worker, task);
    task = next;
  }
  return first;
}

// The tasks of a victim that a thief looks for: those with a priority, or all others.
struct Urgent {
  static PriorityQueue& queue(Member* victim) { return *victim->urgent; }
  static int64_t moves(Member* victim) { return victim->urgent->pushes(); }
  static Task* take(Member* victim) { return victim->urgent->pop(); }
};
struct Ordinary {
  static auto& queue(Member* victim) { return victim->deque; }
  static int64_t moves(Member* victim) { return victim->deque.bottom(); }
  static Task* take(Member* victim) {
    if (Task* task = steal_from(victim)) return task;
    return victim->shared != nullptr ? take_shared(victim) : nullptr;
  }
};

// Tries the nearest of the `others` first, and measures what the steal costs. A random schedule starts anywhere.
template <class Kind>
Task* steal(Worker* worker, Member* thief, int others) {
  const bool random = options().schedule.policy == SchedulePolicy::kRandom;
  const bool measured = !random && worker->thief.measures();
  const int start = random ? static_cast<int>(next_random(worker) % static_cast<uint32_t>(others)) : 0;
  for (int i = 0; i < others; ++i) {
    Member* victim = nth_victim(thief, random ? (start + i) % others : i);
    if (measured && !Kind::queue(victim).empty()) worker->thief.begin();
    if (Task* task = Kind::take(victim)) {
      if (!random) worker->thief.took(&Kind::queue(victim), Kind::moves(victim));
      return task;
    }
  }
  return nullptr;
}

// Whether the worker may look at the queues of the others now. `others`: the number of other members of the team. A
// random schedule has no pauses.
bool may_steal(Worker* worker, int others) {
  return others != 0 && (options().schedule.policy == SchedulePolicy::kRandom || worker->thief.may_steal(others));
}

// A task with a priority: from the member's own queue, else from another member's.
Task* take_urgent(Worker* worker, Member* member) {
  if (Task* task = member->urgent->pop()) return task;
  const int others = member->team->size - 1;
  // A worker with tasks of its own would run less urgent ones while it pauses.
  if (others == 0 || (!may_steal(worker, others) && member->deque.empty())) return nullptr;
  return steal<Urgent>(worker, member, others);
}

Task* find_in_team(Worker* worker, Member* member) {
  if (priorities_in_use()) {
    if (Task* task = take_urgent(worker, member)) return task;
  }
  if (Task* task = pop_own_deque(worker, member)) return task;
  if (member->shared != nullptr) [[unlikely]] {
    if (Task* task = take_shared(member)) return task;
  }
  if (Task* task = take_injected(worker, member)) return task;
  const int others = member->team->size - 1;
  return may_steal(worker, others) ? steal<Ordinary>(worker, member, others) : nullptr;
}

Task* find_yielded(Worker* worker) {
  worker->yielded_turn = !worker->yielded_turn;
  if (worker->yielded_turn && !worker->yielded.empty()) return worker->yielded.pop_front();
  // Starts anywhere, not with the nearest member: a task that yields wants all others to have their turn, and if two
  // untied tasks wait for each other's condition, each may have to move to the other's thread.
  for (Member* m = worker->memberships; m != nullptr; m = next_in_reach(m)) {
    int size = m->team->size;
    int start = size == 1 ? 0 : static_cast<int>(next_random(worker) % static_cast<uint32_t>(size));
    for (int i = 0; i < size; ++i) {
      if (Task* task = pop_yielded(&m->team->members[(start + i) % size])) return task;
    }
  }
  return worker->yielded.pop_front();
}

// A pool task of the teams within the worker's reach (sched/pool_tasks.hpp).
[[gnu::noinline]] Found find_pool_task(Worker* worker) {
  for (Member* m = worker->memberships; m != nullptr; m = next_in_reach(m)) {
    if (Task* task = take_pool_task(worker, m->team)) return {task, m};
  }
  return {};
}

// The worker has looked at all teams within its reach, so a wake-up for a team out of its reach is passed on.
[[gnu::noinline]] void settle_wakeup(Worker* worker, const Member* bound) {
  worker->nesting.must_wake = false;
  if (bound == nullptr) return;
  for (const Member* m = bound->next_membership; m != nullptr; m = m->next_membership) wake_one(m->team);
}

Found find_next(Worker* worker) {
  if (Task* task = pop_resumed(worker)) return {task, membership_in(worker, task->team)};
  Member* place = worker->memberships;
  for (; place != nullptr; place = place->next_membership) {
    if (Task* task = find_in_team(worker, place)) return {task, place};
    if (bounds_reach(place)) break;
  }
  if (worker->nesting.must_wake) [[unlikely]] {
    settle_wakeup(worker, place);
  }
  if (options().strict_constraint) {
    for (Member* m = worker->memberships; m != nullptr; m = next_in_reach(m)) {
      if (Task* task = take_deferred(worker, m)) return {task, m};
    }
  }
  if (pool_in_use()) [[unlikely]] {
    if (Found found = find_pool_task(worker)) return found;
  }
  if (Task* task = find_yielded(worker)) {
    progress_when_all_yield(worker);
    return {task, membership_in(worker, task->team)};
  }
  return {};
}

bool team_has_work(Worker* worker, Member* member) {
  Team* team = member->team;
  // seq_cst, as for the queues: it is set before a task enters one.
  const bool priorities = (g_conditions.load(seq_cst) & condition::kPriorities) != 0;
  if (!team->injected.empty()) return true;
  if (options().strict_constraint && deferred_in_sight(worker, member)) return true;
  for (int i = 0; i < team->size; ++i) {
    const Member& other = team->members[i];
    if (!other.deque.empty() || other.yielded_count.load(seq_cst) != 0) return true;
    if (priorities && !other.urgent->empty()) return true;
    if (other.shared != nullptr && shared_in_sight(&other)) return true;
  }
  return pool_tasks_in_sight(team);
}

void inject(Team* team, Task* task) {
  team->injected.push(task);
  fence_seq_cst();  // the push is before the look at the sleepers (sched/idle.hpp)
  wake_for_task(team);
}

void let_go(Worker* worker, Waiter waiter) {
  switch (waiter.kind) {
    case WaiterKind::kNone: return;
    case WaiterKind::kCompletion:
    case WaiterKind::kTask: enqueue(worker, static_cast<Task*>(waiter.who)); return;
    case WaiterKind::kThread: {
      auto* word = static_cast<Atomic<uint32_t>*>(waiter.who);
      word->store(1, release);  // pairs with the sleeper's acquire; the word may be freed right after
      futex_wake(*word, 1);
      return;
    }
  }
}

// Nobody takes tasks from a guest's place (sched/pool_tasks.hpp).
[[gnu::noinline]] bool enqueue_shared(Member* member, Task* task, QueueClass kind) {
  if (is_guest(member)) {
    inject(member->team, task);
    return true;
  }
  uint32_t coin = options().schedule.policy == SchedulePolicy::kRandom ? next_random(member->worker) : 0;
  return push_shared(member, task, kind, coin);
}

// Whether the task goes to the member's priority queue.
bool is_urgent(const Member* member, const Task* task) {
  return task->priority.load(relaxed) > 0 && member->urgent != nullptr;  // without that queue, the clause has no effect
}

// The class of a task that is not new, from what made it ready.
QueueClass class_of(const Task* task) {
  if (task->fiber != nullptr) return QueueClass::kUntied;
  return task->has(task_flag::kGraph) ? QueueClass::kSuccessor : QueueClass::kNew;
}

// Notifies the tool before the event is fulfilled: after that the task may complete and be freed at once.
Waiter announce_fulfilment(Event* event) {
  Guard<SpinLock> guard(g_detach_lock);
  auto* task = reinterpret_cast<Task*>(reinterpret_cast<char*>(event) - offsetof(Task, event));
  bool early = event->is_pending_detach();
  tool::task_schedule(&task->tool_data, early ? tool::TaskStatus::kEarlyFulfill : tool::TaskStatus::kLateFulfill,
                      nullptr);
  return event->transition_to_fulfilled();
}

void enqueue_at_home(Task* task) {
  Worker* home = task->home;
  if (g_measures_tied_waits.load(relaxed)) [[unlikely]]
    home->tied_waits.count_ready();
  home->inbox.push(task);
  fence_seq_cst();  // the push is before the load of `announced` (sched/idle.hpp)
  wake_worker(home);
}

}  // namespace

void enqueue(Worker* worker, Task* task) {
  if (task->fiber != nullptr) {
    if (tool::on(tool::event::kReady)) [[unlikely]]
      tool::task_ready(&task->tool_data);
    if (task->home != nullptr) return enqueue_at_home(task);
  }
  Team* team = task->team;
  Member* member = worker != nullptr ? membership_in(worker, team) : nullptr;
  if (member != nullptr) {
    enqueue_own(member, task, class_of(task));
    return;
  }
  inject(team, task);
}

void enqueue_own(Member* member, Task* task, QueueClass kind) {
  if (is_urgent(member, task)) {
    member->urgent->push(task);
  } else {
    if (member->shared != nullptr && enqueue_shared(member, task, kind)) [[unlikely]] {
      return;
    }
    member->deque.push(task);
  }
  wake_for_task(member->team);
}

void give_back(Member* member, Task* task) {
  if (is_urgent(member, task)) {
    member->urgent->push(task);
  } else {
    member->deque.push(task);
  }
  wake_for_task(member->team);  // a worker that looked in between has not found the task
}

bool is_overtaken(Worker* worker, Task* task) {
  Member* member = membership_in(worker, task->team);
  if (member == nullptr || is_guest(member)) return false;
  if (task->priority.load(relaxed) > 0) return member->urgent->highest() > PriorityQueue::bucket_of(task);
  Team* team = member->team;
  for (int i = 0; i < team->size; ++i) {
    if (!team->members[i].urgent->empty()) return true;
  }
  return false;
}

void enqueue_yielded(Worker* worker, Member* member, Task* task) {
  if (task->home != nullptr) {  // tied: only this worker resumes it
    worker->yielded.push_back(task);
    return;
  }
  {
    Guard<SpinLock> guard(member->yielded_lock);
    member->yielded.push_back(task);
    member->yielded_count.fetch_add(1, seq_cst);
  }
  wake_for_task(member->team);
}

Found find_work(Worker* worker) {
  for (;;) {
    Found found = find_next(worker);
    if (found && found.task->fiber != nullptr) worker->thief.drop();
    if (!found || may_start(worker, found.task)) return found;
    defer(found.task);
  }
}

bool work_in_sight(Worker* worker) {
  if (!worker->resumed.empty() || !worker->yielded.empty() || !worker->inbox.empty()) return true;
  for (Member* member = worker->memberships; member != nullptr; member = next_in_reach(member)) {
    if (team_has_work(worker, member)) return true;
  }
  return false;
}

// Not inlined: that would cost the completion of every task registers.
[[gnu::noinline]] void fulfil(Worker* worker, Event* event) { let_go(worker, event->transition_to_fulfilled()); }

SpinLock g_detach_lock;

void fulfil_for_program(Worker* worker, Event* event) {
  tsan_release(event);
  if (tool::on(tool::event::kTaskSchedule) && (event->is_pending_detach() || event->holds_completion())) [[unlikely]] {
    let_go(worker, announce_fulfilment(event));
  } else {
    fulfil(worker, event);
  }
}

}  // namespace marline
