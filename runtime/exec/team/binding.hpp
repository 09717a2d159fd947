// SPDX-License-Identifier: Apache-2.0
//
// Binding threads to places (OpenMP 5.2, section 10.1.3). Off, and without cost, unless OMP_PROC_BIND or OMP_PLACES is
// set.
#pragma once

#include "sched/team.hpp"

namespace marline {

// If only OMP_PLACES is set, the options have a policy all the same (config/read_options.cpp, resolve).
bool binding_wanted();

// place-partition-var: the partition of the innermost enclosing region that gave its threads one; all places if there
// is none.
struct PlacePartition {
  int first;
  int count;
};
PlacePartition partition_of(const Member* member);

// Gives each member of the team a place by the policy for regions inside the opener's current one, or by the region's
// proc_bind clause (as ParallelRequest has it; 0: none), within the opener's part of the place list. Also sets what
// follows from the places: the members to steal from first, and the members that share queues. With
// OMP_PROC_BIND=false, which is the default without places, clauses have no effect (section 21.1.7).
void assign_places(Team* team, Worker* opener, int proc_bind);

// bind-var of a task with these control variables at this nesting level: the policy for its next region without a
// proc_bind clause.
ProcBind bind_var(const Icvs& icvs, int level);

// The place that the worker's thread is on, or -1. A thread of the program's is on the first place before its first
// region of several threads, too, but is bound there only when it asks: threads that it starts until then inherit its
// CPUs, and OpenMP must not bind them.
int place_of(Worker* worker);

// The same for the program's first thread before it has a worker. Signal handlers call it: it takes no memory once the
// process's places are known.
int place_of_first_thread();

// Binds the calling thread to place number `place` of the process unless it is there already; -1: leaves it.
void bind_to_place(Worker* worker, int place);

// Shares: a library that makes several devices out of this process's CPUs gives each device a share of the CPUs. The
// thread that takes a share, and the threads of all regions inside, run on the share's CPUs only, and not at places. A
// process has one share for each such thread, and never frees it. Without shares this costs a comparison per region.
//
// Makes `cpus` the calling thread's share from now on. `threads`: what nthreads-var is in target regions there, at
// least 1. Returns 0, or the reason why the system does not bind the thread, as an errno.
[[nodiscard]] int take_cpu_share(Worker* worker, const CpuMask& cpus, int threads);

// Called when the calling thread takes part in a region of a team with this share. Null: the team has none.
void follow_cpu_share(Worker* worker, const CpuShare* share);

}  // namespace marline
