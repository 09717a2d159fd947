// SPDX-License-Identifier: Apache-2.0
//
// The queues of ready tasks, and how a worker chooses the next task. There are four kinds of work: resumed tied tasks
// (the worker's inbox); new tasks, successors and resumed untied tasks (the deques); tasks that yielded (a FIFO per
// member, taken last).
#pragma once

#include "base/conditions.hpp"
#include "sched/locality.hpp"
#include "sched/team.hpp"

namespace marline {

// For choices under MARLINE_SCHEDULE=random. Owner only.
uint32_t next_random(Worker* worker);

// A task that a worker may run, and the worker's place in that task's team.
struct Found {
  Task* task = nullptr;
  Member* member = nullptr;
  explicit operator bool() const { return task != nullptr; }
};

// Queues a ready task: in the caller's own deque if the caller is in the task's team, otherwise in the team's
// `injected` list. A suspended task that must stay on its thread goes to that thread. Wakes a sleeper. `worker`: the
// caller's, or null (a foreign thread, the watchdog). The task may be running elsewhere when this returns.
void enqueue(Worker* worker, Task* task);

// Queues a ready task at the caller's own place in the team.
void enqueue_own(Member* member, Task* task, QueueClass kind = QueueClass::kNew);

// Whether at least `limit` tasks are in the member's own deque. Owner only.
inline bool plenty_in_deque(Member* member, const Task*, int64_t limit) { return member->deque.holds(limit); }

// Whether at least `limit` tasks are in the queue where enqueue_own would put this new task. Owner only.
inline bool plenty_queued(Member* member, const Task* task, int64_t limit) {
  if (member->shared != nullptr) return queued_like(member, task, QueueClass::kNew) >= limit;
  return plenty_in_deque(member, task, limit);
}

// Queues a task that yields, so that all other tasks of its team come first.
void enqueue_yielded(Worker* worker, Member* member, Task* task);

// The next task by policy, from the worker's teams, innermost first, as far out as its reach goes (sched/idle.hpp).
Found find_work(Worker* worker);

// Whether any task has had a priority so far: until then the queues for priorities are not searched. Set by any thread
// that creates such a task, before the task is queued.
inline bool priorities_in_use() { return any_condition(condition::kPriorities); }

// The most urgent or else the newest task of the worker's own queues in `member`. The caller may return it by
// give_back.
inline Task* pop_own(Member* member) {
  if (priorities_in_use() && member->urgent != nullptr) [[unlikely]] {  // null: a guest (sched/pool_tasks.hpp)
    if (Task* task = member->urgent->pop()) return task;
  }
  return member->deque.pop();
}

// Puts the result of pop_own back into the queue that it came from, even if its class has a shared queue.
void give_back(Member* member, Task* task);

// Only with priorities in use: whether a worker that looks for work now would take another task rather than `task`.
bool is_overtaken(Worker* worker, Task* task);

// Whether find_work might find a task. seq_cst: the second look of the sleep protocol.
bool work_in_sight(Worker* worker);

// Fulfils an event: takes its waiter and enqueues it.
void fulfil(Worker* worker, Event* event);

// The same for omp_fulfill_event and marline_event_fulfill: tools are notified if the event is a detachable task's. The
// lock orders a fulfilment and the end of a body with a pending event, so that tools are notified of them one after the
// other, in the order in which they happen.
void fulfil_for_program(Worker* worker, Event* event);
extern SpinLock g_detach_lock;  // taken for detached tasks only, and only while a tool listens

}  // namespace marline
