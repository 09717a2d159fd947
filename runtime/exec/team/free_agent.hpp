// SPDX-License-Identifier: Apache-2.0
//
// Free agents (OpenMP 6.0, section 14.8): threads of the pool that run pool tasks (sched/pool_tasks.hpp) of teams that
// they do not belong to. docs/design/free-agents.md
//
// A thread becomes a free agent when a pool task is queued, nobody sleeps in the task's team, and the limits allow one
// more (call_agent). It stops being one, and goes back to the pool, when there is no pool task and all tasks that it
// has begun have ended. While it is one, it has an implicit task of its own, in a team of one, and its own stack waits
// below the tasks, which run on fibers.
//
// Invariant: a pool task is queued, or an agent is about to look for it, or a thread of the team will find it. The last
// is always true, so no program waits for an agent.
#pragma once

#include "sched/team.hpp"

namespace marline {

// Whether free agents may run the new pool task, a child of the current task. If not, the task is one of its team's.
bool agents_may_run(const Worker* worker, const Task* task);

// The thread of the pool is a free agent until there is nothing to do.
void run_as_agent(Worker* worker);

// The most threads that regions of a contention group may have together, if its limit is `thread_limit`
// (OMP_THREADS_RESERVE). Under g_agents_lock: agents that are there count, too.
int structured_thread_limit(int thread_limit);
extern SpinLock g_agents_lock;  // held across fork

// Whether no agent runs a task, nor has one that may go on. An agent that takes a task from its inbox has begun to work
// before; so if none began meanwhile, an empty inbox was empty, not just emptied.
bool agents_are_done();

// In the child: there are no agents.
void agents_after_fork_in_child();

}  // namespace marline
