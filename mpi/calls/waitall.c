/* SPDX-License-Identifier: Apache-2.0
 *
 * MPI_Waitall. In a task, MPI_Testall is called for 64 requests at a time, one part after the other: while a part is
 * not complete, later parts need not be tested, so the total cost is linear in the number of requests. MPI_Testall
 * treats null, inactive and failed requests as MPI_Waitall does, and changes no request of a part until all are
 * complete. Between the tests, the poller tests the first request that is not complete (parts.h). It completes that
 * request alone, so the requests before it are completed first.
 *
 * MPICH 4.0's MPI_Testall treats a complete partitioned request or persistent collective as failed, also in plain
 * programs. So if there is one, the requests are tested one by one.
 */
#include "calls/parts.h"

#include <limits.h>
#include <stddef.h>

#include "calls/persistent.h"
#include "engine/waiting.h"

typedef struct PendingWaitall {
  Pending base; /* first: the engine hands back a pointer to it */
  Parts parts;
  int count;
  MPI_Request* requests;
  MPI_Status* statuses;
  int done;    /* number of requests at the front that are complete */
  bool failed; /* one of these requests, which the poller tested, has failed */
} PendingWaitall;

enum { kPartsPerLook = 16 };

static void say_in_statuses(PendingWaitall* call, int begin, int end, int error) {
  for (int i = begin; i < end && call->statuses != MPI_STATUSES_IGNORE; ++i) call->statuses[i].MPI_ERROR = error;
}

/* MPI_Testall has ended a part with an error, and its statuses say which request has failed. Sets the statuses of
 * all other requests as MPI_Waitall would if it had ended there: complete before the part, pending after it. */
static void say_in_other_statuses(PendingWaitall* call, int size) {
  int class = MPI_SUCCESS;
  next_mpi.error_class(call->base.error, &class);
  if (class != MPI_ERR_IN_STATUS) return;
  if (!call->failed) say_in_statuses(call, 0, call->done, MPI_SUCCESS);
  say_in_statuses(call, call->done + size, call->count, MPI_ERR_PENDING);
}

/* The next request is complete. As MPI_Waitall does, the call waits for the other requests even if this one has
 * failed. */
static void count_completed(PendingWaitall* call, int error) {
  const int i = call->done++;
  if (error != MPI_SUCCESS && !call->failed) {
    say_in_statuses(call, 0, i, MPI_SUCCESS);
    call->failed = true;
  }
  if (call->failed) say_in_statuses(call, i, i + 1, error);
}

/* Does the same as test(), for requests of which some are not for MPI_Testall. */
static bool test_one_by_one(PendingWaitall* call, int size) {
  for (; size > 0; --size) {
    MPI_Status* status = call->statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : call->statuses + call->done;
    int flag = 0;
    const int error = next_mpi.test(call->requests + call->done, &flag, status);
    if (error == MPI_SUCCESS && !flag) return false;
    count_completed(call, error);
  }
  return true;
}

/* Tests the next `size` requests: true if they are complete, or the call has failed. */
static bool test(PendingWaitall* call, int size) {
  if (call->requests != NULL && are_any_not_for_testall(size, call->requests + call->done))
    return test_one_by_one(call, size);
  MPI_Status* statuses = call->statuses == MPI_STATUSES_IGNORE ? call->statuses : call->statuses + call->done;
  int flag = 0;
  call->base.error = next_mpi.testall(size, call->requests + call->done, &flag, statuses);
  if (call->base.error != MPI_SUCCESS) {
    say_in_other_statuses(call, size);
    return true;
  }
  if (flag && call->failed) say_in_statuses(call, call->done, call->done + size, MPI_SUCCESS);
  call->done += flag ? size : 0;
  return flag;
}

static int next_size(const PendingWaitall* call) {
  const int left = call->count - call->done;
  return left < kRequestsPerLook ? left : kRequestsPerLook;
}

/* Tests part by part, at most `parts` of them: true if the call has its result. Calls MPI even if there is no
 * request, so that wrong arguments are found. */
static bool look(PendingWaitall* call, int parts) {
  for (; parts > 0; --parts) {
    if (!test(call, next_size(call))) return false;
    if (call->base.error != MPI_SUCCESS) return true;
    if (call->done >= call->count) return true;
  }
  return false;
}

/* Lets the poller test the first request that is not complete. True if the call has failed at a request before it. */
static bool leave_to_poller(PendingWaitall* call) {
  const int size = next_size(call);
  int found = 0;
  while (found < size && !parts_is_open(call->requests[call->done + found])) ++found;
  if (found == size || (found > 0 && !test(call, found))) return false;
  if (call->base.error != MPI_SUCCESS) return true;
  call->parts.status = call->statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : call->statuses + call->done;
  parts_add(&call->parts, call->done, call->requests[call->done]);
  return false;
}

static bool finished(Pending* pending) {
  PendingWaitall* call = (PendingWaitall*)pending;
  const bool ended = look(call, kPartsPerLook) || leave_to_poller(call);
  if (ended && call->failed) call->base.error = MPI_ERR_IN_STATUS;
  return ended;
}

static bool part_completed(Several* several, Pending* part) {
  PendingWaitall* call = (PendingWaitall*)several->whole;
  call->requests[call->done] = part->request;
  count_completed(call, part->error);
  return finished(&call->base);
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  PASS_ON_FROM_TOOL(waitall(count, requests, statuses));
  MpiCall what = {.name = "MPI_Waitall",
                  .caller = __builtin_return_address(0),
                  .peer = kNoPeer,
                  .tag = kNoTag,
                  .requests = count,
                  .given = requests,
                  .given_count = count};
  if (!engine_takes(__builtin_return_address(0))) {
    BLOCKED_IN(&what);
    return next_mpi.waitall(count, requests, statuses);
  }
  PendingWaitall call; /* field by field, because most parts stay unused */
  call.base = (Pending){.finished = finished, .call = &what};
  parts_begin(&call.parts, &call.base, part_completed, NULL);
  call.count = count;
  call.requests = requests;
  call.statuses = statuses;
  call.done = 0;
  call.failed = false;
  if (look(&call, INT_MAX)) {
    if (call.failed) call.base.error = MPI_ERR_IN_STATUS;
  } else {
    what.requests = waiting_requests(count, requests);
    engine_wait(&call.base);
  }
  return call.base.error;
}

extern __typeof__(MPI_Waitall) PMPI_Waitall __attribute__((alias("MPI_Waitall")));
