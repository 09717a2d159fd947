// SPDX-License-Identifier: Apache-2.0
//
// Where ready tasks wait and how a worker chooses the next one. Four kinds of work: resumed tied tasks (the worker's
// inbox), new tasks and successors and resumed untied tasks (the deques), tasks that yielded (a FIFO per member, last).
#pragma once

#include "sched/team.hpp"

namespace marline {

// For choices under MARLINE_SCHEDULE=random. Owner only.
uint32_t next_random(Worker* worker);

// Work that a worker may run, and its own place in that task's team.
struct Found {
  Task* task = nullptr;
  Member* member = nullptr;
  explicit operator bool() const { return task != nullptr; }
};

// Queues a ready task: on the caller's own deque if the caller is of the team, else where the team finds it. A
// suspended task that must stay on its thread goes to that thread. Wakes a sleeper. `worker`: the caller's, or null (a
// foreign thread, the watchdog). The task may be running elsewhere when this returns.
void enqueue(Worker* worker, Task* task);

// Queues a ready task on the caller's own place in the team.
void enqueue_own(Member* member, Task* task, QueueClass kind = QueueClass::kNew);

// Whether so many tasks wait in the member's own deque. Owner only.
inline bool plenty_in_deque(Member* member, const Task*, int64_t limit) {
  return member->deque.size_hint() >= limit && member->deque.size() >= limit;
}

// Whether so many tasks wait already where enqueue_own would put this new one. Owner only.
inline bool plenty_queued(Member* member, const Task* task, int64_t limit) {
  if (member->shared != nullptr) return queued_like(member, task, QueueClass::kNew) >= limit;
  return plenty_in_deque(member, task, limit);
}

// Queues a task that yields: behind everything else that its team has.
void enqueue_yielded(Worker* worker, Member* member, Task* task);

// The next task by policy, from the worker's teams, innermost first, as far out as its reach goes (sched/idle.hpp).
Found find_work(Worker* worker);

// Whether some task has had a priority so far: until then nobody looks at the queues for them. Set by any thread that
// creates such a task, before the task is queued.
extern Atomic<bool> g_priorities_in_use;
inline bool priorities_in_use() { return g_priorities_in_use.load(relaxed); }

// The most urgent, then the newest task of the worker's own queues in `member`: the caller may give it back.
inline Task* pop_own(Member* member) {
  if (priorities_in_use()) [[unlikely]] {
    if (Task* task = member->urgent->pop()) return task;
  }
  return member->deque.pop();
}

// Puts what pop_own returned where it was, whatever class of task has queues of its own.
void give_back(Member* member, Task* task);

// Only with priorities in use: whether a worker that looked for work would take another task rather than `task`.
bool is_overtaken(Worker* worker, Task* task);

// Whether find_work might find something. The sleep protocol's second look: seq_cst.
bool work_in_sight(Worker* worker);

// Fulfils an event: takes its waiter and enqueues it.
void fulfil(Worker* worker, Event* event);

// The same for omp_fulfill_event and marline_event_fulfill: tools hear of it if the event is a detachable task's. Under
// the lock a fulfilment and the end of a body with a pending event are told one after the other, in the order in which
// they happen.
void fulfil_for_program(Worker* worker, Event* event);
extern SpinLock g_detach_lock;  // taken for detached tasks only, and only while a tool listens

}  // namespace marline
