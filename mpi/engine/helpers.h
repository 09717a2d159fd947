/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls without a nonblocking form (MPI_Win_fence, MPI_Comm_split, MPI_File_open): a helper thread makes them while the
 * task is suspended.
 *
 * Calls are queued in lanes. In a lane, a call waits for the calls queued before it. Lanes are chosen so that the
 * program must not make these calls at the same time anyway (collectives on one communicator, window or file: MPI 3.1,
 * 5.13, 11.7, 13.6), or that the calls need no other process to end (kLaneAlone).
 *
 * This cannot deadlock unless the program would also deadlock with one thread per task: each lane that has a call gets
 * a thread at once, and no call waits for a thread that a call of another lane holds. So at any time every call that a
 * thread per task would have in progress is in progress here. Threads are kept for the next lane.
 */
#ifndef MARLINE_MPI_HELPERS_H
#define MARLINE_MPI_HELPERS_H

#include <stdint.h>

#include "base/call.h"

/* How many helper threads there may be. A stack takes two memory mappings, of the 65,530 that Linux lets a process
 * have (vm.max_map_count) and that the stacks of suspended tasks need, too; the bound takes an eighth of them.
 *
 * At the bound, or if the system gives no further thread (ulimit -u, -v; pids.max), lanes wait for a thread in the
 * order in which they came, and a line reports it once. That is the best that is left, but it may be a deadlock: k
 * threads on each of two ranks may hold calls with partners that wait in the other rank's queue, if the ranks make
 * them in different orders. Each further call, and each call that ends, tries again to start a thread. If not even
 * one can be started, calls hold the thread of their task. */
enum { kMostHelpers = 4096 };

/* The lane of a call, which waits for earlier calls on the same object and of the same kind. A kind from 0 up is a
 * rank or a tag. */
typedef struct HelperLane {
  /* The handle of a communicator, window or file; an address, for a call that waits for no other; 0: none. */
  uintptr_t object;
  int64_t kind;
} HelperLane;

static const int64_t kLaneOfObject = INT64_MIN;  /* collective over the object */
static const int64_t kLaneAlone = INT64_MIN + 1; /* needs no other process */
static const int64_t kLaneExposure =
    INT64_MIN + 2; /* waits for the end of an exposure epoch; access epochs may go on */

/* Calls function(arguments) on a helper thread with the current task suspended, and returns its result. `call`
 * describes the call. may_suspend() must have returned true. */
int helper_run(int (*function)(void* arguments), void* arguments, HelperLane lane, const MpiCall* call);

/* Called in MPI_Finalize: ends the threads, so that they do not keep the process alive when its own threads have
 * ended. */
void helpers_stop(void);

#endif
