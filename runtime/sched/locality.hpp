// SPDX-License-Identifier: Apache-2.0
//
// How a team uses the structure of the machine: the order in which its members steal, and the queues that several
// members share.
//
// A ready task is of one of the classes below. By default every class waits in the member's own deque. MARLINE_QUEUES
// places a class higher: the members within one cache, NUMA domain, socket or machine then share one queue for it.
// Tasks with an affinity wait in a queue of the NUMA domain where their data lies, if bound members live in more than
// one.
//
// Made and changed while the team is at rest (exec/team/binding.cpp), constant while its region runs. A program that
// neither binds its threads nor sets MARLINE_QUEUES has neither: `Member::victims` and `Member::shared` are null.
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

// The first three as in Options::queues.
enum class QueueClass : int {
  kNew,        // ready when it was created
  kSuccessor,  // made ready by the completion of a predecessor
  kUntied,     // suspended, to be resumed by any thread
  kAffinity,   // to be run near its data
};
inline constexpr int kQueueClasses = 4;
static_assert(kQueueClasses == kPlaceableClasses + 1);

// Ready tasks of one class in one domain. Any thread of the team pushes and pops, under the lock: it is shared by
// choice, and the deques serve those who do not want that.
struct alignas(kCacheLine) SharedQueue {
  // Order by MARLINE_SCHEDULE: newest first, oldest first, or by `coin`.
  void push(Task* task, uint32_t coin);
  Task* pop();
  // seq_cst: the second look of the sleep protocol (sched/idle.hpp); push is its counterpart.
  bool empty() const { return count.load(seq_cst) == 0; }

  SpinLock lock;  // tasks
  Fifo<Task, &Task::next> tasks;
  Atomic<int32_t> count{0};     // of `tasks`; changed under the lock, read by anybody
  uint64_t* members = nullptr;  // of the domain: bits as in Team::sleepers, which are woken first
};

struct Locality {
  int16_t* victims = nullptr;     // of member i: size - 1 numbers at i * (size - 1); null: the neighbours
  SharedQueue* queues = nullptr;  // all of them; empty between regions
  int queue_count = 0;
  SharedQueue** of_member = nullptr;  // kQueueClasses each; null entries: the own deque; null: no shared queues
  SharedQueue** of_domain = nullptr;  // kAffinity by NUMA domain, null where no member lives; null: one domain
  int domains = 0;
};

// Gives the team what it needs for its present size and its members' places; `map` null: they have none.
void locality_set(Team* team, const PlaceMap* map);

// The i-th of the others in the order in which the member steals; i from 0 to size - 2.
Member* nth_victim(const Member* thief, int i);

// A task of the queues that the member shares, or null: affinity, successors, new ones, resumed ones.
Task* take_shared(Member* member);
bool shared_in_sight(const Member* member);

// Queues the task where the members of its class look, and wakes one of them. False: it belongs into the member's own
// deque. Owner of the member only; `coin` decides the order under MARLINE_SCHEDULE=random.
bool push_shared(Member* member, Task* task, QueueClass kind, uint32_t coin);

// How many tasks wait where push_shared would put this one. Owner of the member only.
int64_t queued_like(Member* member, const Task* task, QueueClass kind);

// Whether tasks of the current team can be nearer to their data on some members than on others. False: an affinity need
// not even be looked at.
bool affinity_matters(const Worker* worker);

// Whether a task with an affinity, which the worker could run right now, should be left to another domain.
bool belongs_elsewhere(const Worker* worker, const Task* task);

}  // namespace marline
