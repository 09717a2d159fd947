// SPDX-License-Identifier: Apache-2.0
//
// Workers: the threads of the pool, and the program's own threads ("root" workers).
#pragma once

#include "sched/team.hpp"

namespace marline {

// A structure for a new worker: that of a retired worker, or a new one. Null: there is no memory.
Worker* worker_create();

// Makes the calling thread the worker's. Resets what the structure keeps of its previous thread, except its pool and
// its fiber.
void worker_enter(Worker* worker);

// Makes a root worker for the calling thread, with a fiber for its stack and an implicit team of one thread.
Worker* make_root_worker();

// Tells tools that a root worker's thread and its initial task begin.
void announce_root_begin(Worker* worker);

extern SpinLock g_callback_workers_lock;  // of the workers that exec/team/callback.cpp keeps; held across fork

// Registers the caller, a thread of the program's that may have no worker and is about to start a thread of the
// runtime: when the last registered thread of the program has ended, the runtime's threads end, too.
void note_program_thread();

// Tells tools that a root worker's initial task and its thread end.
void announce_root_end(Worker* worker);

// The process ends: the idle threads of the pool and the threads of the caller's team report their own end to the tool
// and sleep for ever. Threads that are in a region are left alone. `worker`: the caller's, or null.
void end_pool_threads(Worker* worker);

// The threads that wait in the pool end; regions start new ones as they need them.
void retire_idle_workers();

// Takes up to `count` workers from the pool, starting threads as needed, as team->members[first..]. Returns how many it
// got: fewer if the limit on the process's threads is reached or the system refuses, which is said once.
int hire_workers(Team* team, int first, int count);

// Sends the workers of team->members[first..] back to the pool.
void dismiss_workers(Team* team, int first);

// The same for all workers of an inner team but its opener, after the region has ended. They may still be leaving the
// region: team->members keeps pointing to them, and they take their next job when they have left.
void dismiss_inner_workers(Team* team);

// The implicit task of a thread that is in no region, and its team of one.
Team* begin_initial_task(Worker* worker);

// For free agents (exec/team/free_agent.hpp): a worker of the pool, or null; its job, run_as_agent; and, when that has
// ended, back to the pool.
Worker* hire_agent();
void start_agent(Worker* worker);
void return_to_pool(Worker* worker);

// Runs tasks on the current fiber, which has no task of its own. Returns when the fiber was given up for a resumed task
// and is used again, or when it has a caller to return to.
void schedule_on_this_fiber();

// The current task, an implicit one at a barrier, waits in place: runs or resumes tasks if there are any, else spins,
// polls and sleeps, until `done(context)`.
void work_until(bool (*done)(void* context), void* context);

// Pool workers: sleeps until there is a job, and takes it.
Team* wait_for_job(Worker* worker);

// A root worker's thread ends, or the program: completes the unfinished tasks of its initial task, except tasks that
// wait for an event which nothing in the runtime fulfils.
void finish_root_tasks(Worker* worker);

// Whether there are more workers than cores, or more ranks on the node: then waiting threads give their core away
// early.
bool oversubscribed();

// The same, with the threads that have no team counted: a thread without a team is not worth a core that another thread
// may want.
bool more_threads_than_cores();

// The newest of all workers that were ever created; Worker::created_before leads from it to the others. Any thread.
const Worker* newest_worker();
// Where the pointer to it is, for debuggers.
const void* newest_worker_place();

// The number of living workers, and of living workers that are not idle in the pool.
int worker_count();
int busy_worker_count();

// The control variables of the initial task of a thread that the runtime has not seen yet, as the options say.
Icvs initial_icvs();

// How long idle workers look for work before they sleep, in nanoseconds, whatever the options say; -1: as the options
// say.
void set_idle_spin(int64_t nanoseconds);
int64_t idle_spin();

}  // namespace marline
