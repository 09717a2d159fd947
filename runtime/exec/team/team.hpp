// SPDX-License-Identifier: Apache-2.0
//
// Teams: making them, and the implicit task of each member. A root worker keeps its team ("hot") from region to region,
// with its threads. A region inside an active one has an inner team: its memory belongs to the opener, its threads come
// from the pool and go back to it (docs/design/nested-teams.md). Teams of one thread, for serialised regions, are kept
// in a list.
#pragma once

#include "sched/team.hpp"

namespace marline {

// The calling root worker's team with `size` threads, itself as member 0; null if it is in use (a region inside a
// region), if the caller is a thread of the pool (which keeps none), or if not even one more thread can be had.
// `team->size` may be less than asked. `proc_bind`: the clause, or 0 for none.
Team* team_hot(Worker* worker, int size, int proc_bind);
void team_hot_release(Team* team);

// A team for a region inside another one, with up to `size` threads from the pool, the caller as member 0; null if not
// even one more can be had, or if too many regions of other tasks are open on this thread.
Team* team_inner(Worker* worker, int size, int proc_bind);
void team_inner_release(Worker* worker, Team* team);

// A team of one thread: the caller.
Team* team_serial(Worker* worker);
void team_serial_release(Worker* worker, Team* team);

// Sets the fields of an initial task's team: it has no enclosing region. If the task is not its thread's first,
// `encountering` is the member that encountered the construct, for the places.
void team_describe_initial(Team* team, const Icvs& icvs, Member* encountering = nullptr);

// Starts the region on all members but the caller's, which is member 0.
void team_start(Team* team);

// Takes back the jobs of the members that have not begun theirs, and arrives at the region's barrier for them. By the
// opener, before it arrives itself, in a region whose work need not be done by all members.
void team_withdraw(Team* team);

// Between these two calls, `worker` runs the implicit task of `member`. The second call restores the current task and
// member from before.
void implicit_task_begin(Worker* worker, Member* member);
void implicit_task_end(Worker* worker, Member* member, Task* previous, Member* previous_member);

// Takes all threads but the owner's out of a hot team that is not in use, and puts them at the front of `list`, chained
// by Worker::next.
Worker* team_give_threads(Team* team, Worker* list);

extern SpinLock g_abandoned_teams_lock;  // of the lists of unused teams; held across fork

// Gives all threads of a worker's hot team back to the pool, and puts its teams into the lists of unused teams. The
// worker ends, or the program pauses OpenMP.
void team_dissolve(Worker* worker);

}  // namespace marline
