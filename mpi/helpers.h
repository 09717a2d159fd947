/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls without a nonblocking twin (MPI_Win_fence, MPI_Comm_split, MPI_File_open): a helper thread makes them while the
 * task is suspended.
 *
 * Why that cannot deadlock where the program with a thread per task would not. Calls are queued in lanes. A lane has a
 * thread of its own from its first call until it is empty, so no call ever waits for a thread that a call of another
 * lane holds. Inside a lane a call waits for those queued before it; lanes are drawn such that the program may not make
 * these at the same time anyway (collectives on one communicator, window or file: MPI 3.1, 5.13, 11.7, 13.6) or that
 * they end without anybody else's doing (kLaneAlone). So at any time every call that a thread per task would have in
 * progress is in progress here.
 *
 * The number of threads is bounded by the number of objects with a call in progress, and by kMostHelpers: beyond that
 * the process ends with a line, as waiting for a free thread could be a deadlock. Threads are kept for the next call.
 */
#ifndef MARLINE_MPI_HELPERS_H
#define MARLINE_MPI_HELPERS_H

#include <stdint.h>

#include "call.h"

enum { kMostHelpers = 256 };

/* What a call is queued behind: those on the same object and of the same kind. A kind from 0 up is a rank or a
 * tag. */
typedef struct HelperLane {
  uintptr_t object; /* the handle of a communicator, window or file; an address, for a call behind no other; 0: none */
  int64_t kind;
} HelperLane;

static const int64_t kLaneOfObject = INT64_MIN;     /* collective over the object */
static const int64_t kLaneAlone = INT64_MIN + 1;    /* needs no other process */
static const int64_t kLaneExposure = INT64_MIN + 2; /* waits for the end of an exposure epoch; access epochs may go on */

/* Calls function(arguments) on a helper thread with the current task suspended, and returns its result. `call` says what
 * it is. May_suspend() has said yes. */
int helper_run(int (*function)(void *arguments), void *arguments, HelperLane lane, const MpiCall *call);

/* In MPI_Finalize: the threads end, so that they do not keep a process alive whose own threads have ended. */
void helpers_stop(void);

#endif
