// SPDX-License-Identifier: Apache-2.0
//
// How a team uses the structure of the machine: the order in which its members steal, and the queues that several
// members share.
//
// A ready task is of one of the classes below. By default every class is queued in the member's own deque.
// MARLINE_QUEUES places a class higher: the members within one cache, NUMA domain, socket or machine then share one
// queue for it. Tasks with an affinity are queued in a queue of the NUMA domain that has their data, if the team has
// bound members in more than one domain.
//
// Created and changed while no region of the team runs (exec/team/binding.cpp), constant while its region runs. A
// program that neither binds its threads nor sets MARLINE_QUEUES has no such structures: `Member::victims` and
// `Member::shared` are null.
#pragma once

#include "base/atomic.hpp"
#include "base/intrusive.hpp"
#include "base/spin_lock.hpp"
#include "config/options.hpp"
#include "platform/topology/nearness.hpp"
#include "task/task.hpp"

#include <cstdint>

namespace marline {

struct Member;
struct Team;
struct Worker;

// The first three correspond to Options::queues.
enum class QueueClass : int {
  kNew,        // ready when it was created
  kSuccessor,  // made ready by the completion of a predecessor
  kUntied,     // suspended, to be resumed by any thread
  kAffinity,   // to be run near its data
};
inline constexpr int kQueueClasses = 4;
static_assert(kQueueClasses == kPlaceableClasses + 1);

// Ready tasks of one class in one domain. Any thread of the team pushes and pops, under the lock. Sharing is an option;
// programs that do not want it use the deques.
struct alignas(kCacheLine) SharedQueue {
  // Order by MARLINE_SCHEDULE: newest first, oldest first, or by `coin`.
  void push(Task* task, uint32_t coin);
  Task* pop();
  // seq_cst: the second look of the sleep protocol (sched/idle.hpp); push is its counterpart.
  bool empty() const { return count.load(seq_cst) == 0; }

  SpinLock lock;  // guards `tasks`
  Fifo<Task, &Task::next> tasks;
  Atomic<int32_t> count{0};  // length of `tasks`; changed under the lock, read by any thread
  // The members that share the queue, as bits as in Team::sleepers; a push wakes one of them first.
  uint64_t* members = nullptr;
};

struct Locality {
  // The victims of member i: size - 1 indices, from i * (size - 1) on; null: the neighbours.
  int16_t* victims = nullptr;
  SharedQueue* queues = nullptr;  // all queues; empty between regions
  int queue_count = 0;
  // kQueueClasses entries per member; a null entry: the member's own deque; null: no shared queues.
  SharedQueue** of_member = nullptr;
  // The kAffinity queue of each NUMA domain, null for a domain without a member; null: there is only one domain.
  SharedQueue** of_domain = nullptr;
  int domains = 0;
};

// Gives the team the structures for its present size and its members' places; `map` null: the members have no places.
void locality_set(Team* team, const PlaceMap* map);

// The i-th other member in the order in which the member steals; i from 0 to size - 2.
Member* nth_victim(const Member* thief, int i);

// A task of the queues that the member shares, or null. The order is: affinity, successors, new tasks, resumed tasks.
Task* take_shared(Member* member);
bool shared_in_sight(const Member* member);

// Queues the task in the shared queue of its class, and wakes a member of that queue. False: the task belongs into the
// member's own deque. Owner of the member only; `coin` decides the order under MARLINE_SCHEDULE=random.
bool push_shared(Member* member, Task* task, QueueClass kind, uint32_t coin);

// The number of tasks in the queue where push_shared would put this task. Owner of the member only.
int64_t queued_like(Member* member, const Task* task, QueueClass kind);

// Whether the data of tasks of the current team can be nearer to some members than to others. False: an affinity can be
// ignored.
bool affinity_matters(const Worker* worker);

// Whether a task with an affinity, which the worker could run now, should be left to another domain.
bool belongs_elsewhere(const Worker* worker, const Task* task);

}  // namespace marline
