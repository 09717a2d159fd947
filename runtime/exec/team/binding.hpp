// SPDX-License-Identifier: Apache-2.0
//
// Binding threads to places (OpenMP 5.2, section 10.1.3). Off, and without cost, unless OMP_PROC_BIND or OMP_PLACES is
// set.
#pragma once

#include "sched/team.hpp"

namespace marline {

// OMP_PLACES alone has been made a policy of by then (config/options.cpp, resolve).
bool binding_wanted();

// place-partition-var: that of the innermost region around whose threads were given one; outside of such, all places.
struct PlacePartition {
  int first;
  int count;
};
PlacePartition partition_of(const Member* member);

// Gives each member of the team a place by the policy for regions inside the opener's current one, or by the region's
// proc_bind clause (as ParallelRequest has it; 0: none), within the opener's part of the place list; and what follows
// from the places: whom it steals from first, with whom it shares queues. With OMP_PROC_BIND=false, which is the
// default without places, clauses have no effect (section 21.1.7).
void assign_places(Team* team, Worker* opener, int proc_bind);

// bind-var of a task with these control variables at this nesting level: the policy for its next region without a
// proc_bind clause.
ProcBind bind_var(const Icvs& icvs, int level);

// The place that the worker's thread is on, or -1. A thread of the program's is on the first place before its first
// region of several threads, too, but is bound there when it asks and not before: threads that it starts meanwhile
// inherit where it may run, and are none of OpenMP's business.
int place_of(Worker* worker);

// Binds the calling thread to place number `place` of the process unless it is there already; -1: leaves it.
void bind_to_place(Worker* worker, int place);

// Shares: a library that makes several devices of this process's CPUs gives each of them some. The thread that takes a
// share, and the threads of all regions inside, run on its CPUs only, and not at places. A process has as many shares
// as such threads; they stay. Without them this costs a comparison per region.
//
// The calling thread's from now on. `threads`: what nthreads-var is in target regions there, at least 1. Returns 0, or
// the reason why the system does not bind the thread, as an errno.
[[nodiscard]] int take_cpu_share(Worker* worker, const CpuMask& cpus, int threads);

// The calling thread takes part in a region of a team with this share; null: of one without.
void follow_cpu_share(Worker* worker, const CpuShare* share);

}  // namespace marline
