/* SPDX-License-Identifier: Apache-2.0
 *
 * Random programs of tasks that complete several requests each, of every kind: messages, persistent, partitioned and
 * generalized ones, collectives, persistent collectives, null and inactive ones; by every call that takes several
 * requests, with statuses and without. Some are cancelled, and one in a set may fail because its message is too long.
 * Each request is completed once, with its own result.
 *
 * Usage: request_kinds SEED PROGRAMS, for the programs with the seeds SEED, SEED + 1, ...
 */
#include <string.h>

#include "random_programs.h"

enum { kMostTasks = 12, kFew = 10, kMany = 90, kParts = 4, kLong = 5 };
typedef enum Kind {
  kNull,
  kInactive,
  kMessage,
  kSynchronous,
  kPersistent,
  kPartitioned,
  kGeneralized,
  kCollective,
  kPersistentCollective,
  kCancelled,
  kCancelledGeneralized,
  kKinds,
  kTooLong /* one in a set */
} Kind;
typedef enum Way { kWaitall, kWaitany, kWaitsome, kWait, kTestall, kTestany, kTestsome, kTest, kWays } Way;

typedef struct Request {
  Kind kind;
  int is_send;
  int tag;
  int done;
  int data[kParts];
  MPI_Comm comm; /* the communicator of a collective */
} Request;

typedef struct Set {
  int number;
  int count;
  int left; /* active and not completed */
  int with_statuses;
  Request requests[kMany];
  MPI_Request handles[kMany];
  MPI_Status statuses[kMany];
} Set;

/* A communicator for each collective of a task; persistent ones are made once. */
static MPI_Comm comms[kMostTasks];
static MPI_Request persistent_barriers[kMostTasks];

static int class_of(int error) {
  int class = MPI_SUCCESS;
  MPI_Error_class(error, &class);
  return class;
}

static int has(const Set* set, Kind kind) {
  int found = 0;
  for (int i = 0; i < set->count; ++i) found |= set->requests[i].kind == kind;
  return found;
}

/* Without calls that MPICH 4.0 answers wrongly, also in plain programs: its MPI_Testall takes a partitioned request or
 * a persistent collective that is complete for one that has failed; Waitany, Waitsome and the like find persistent
 * collectives complete again and again. */
static Way way_of(const Set* set) {
  const Way way = (Way)(mix(1000u * (unsigned)(set->number + 1) + 6 + (unsigned)world_rank) % kWays);
#ifndef OPEN_MPI
  if (way == kTestall && (has(set, kPartitioned) || has(set, kPersistentCollective))) return kTest;
  if (way != kWait && way != kTest && has(set, kPersistentCollective)) return kWaitall;
#endif
  return way;
}

static unsigned task_count(void) { return 1 + mix(0) % kMostTasks; }

/* With Open MPI, in one set of a program only: where two receives of a rank fail at a time, it may free one of them
 * while it completes it, and then another receive ends before its message has come (docs/guide/mpi.md). */
static int may_fail(const Set* set) {
#ifdef OPEN_MPI
  return set->number == (int)(mix(1) % task_count());
#else
  return mix(1000u * (unsigned)(set->number + 1) + 1) % 3 == 0;
#endif
}

/* Draws the requests, the same on both ranks but for the direction of messages. A set has one collective and one
 * persistent collective. */
static void plan(Set* set) {
  const unsigned base = 1000u * (unsigned)(set->number + 1);
  const int fails = may_fail(set) ? (int)(mix(base + 2) % 6) : -1;
  int collectives = 0, persistent_collectives = 0;
  set->count = set->left = 0;
  const int count = mix(base + 3) % 5 == 0 ? kMany - (int)(mix(base + 4) % 30) : 1 + (int)(mix(base + 4) % kFew);
  for (int i = 0; i < count; ++i) {
    Request* request = &set->requests[set->count];
    memset(request, 0, sizeof *request);
    request->kind = i == fails ? kTooLong : (Kind)(mix(base + 100 + (unsigned)i) % kKinds);
#if MPI_VERSION < 4
    if (request->kind == kPartitioned || request->kind == kPersistentCollective) request->kind = kPersistent;
#endif
    if ((request->kind == kCollective && collectives++ > 0) ||
        (request->kind == kPersistentCollective && persistent_collectives++ > 0))
      request->kind = kMessage;
    request->is_send = (int)(mix(base + 300 + (unsigned)i) % 2) == world_rank;
    if (request->kind == kTooLong && request->is_send) request->kind = kMessage;
    request->tag = set->number * kMany + i;
    request->comm = comms[set->number];
    ++set->count;
  }
}

/* Generalized requests --------------------------------------------------------------------------------------------- */

static int query(void* state, MPI_Status* status) {
  const Request* request = state;
  MPI_Status_set_elements(status, MPI_INT, request->tag);
  MPI_Status_set_cancelled(status, request->kind == kCancelledGeneralized);
  status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
  return MPI_SUCCESS;
}

static int release(void* state) {
  (void)state;
  return MPI_SUCCESS;
}

static int cancel(void* state, int complete) {
  (void)state;
  (void)complete;
  return MPI_SUCCESS;
}

static void start_generalized(Request* request, MPI_Request* handle) {
  MPI_Grequest_start(query, release, cancel, request, handle);
  MPI_Request copy = *handle;
#pragma omp task untied firstprivate(copy, request)
  {
#pragma omp taskyield
    if (request->kind == kCancelledGeneralized) MPI_Cancel(&copy);
    MPI_Grequest_complete(copy);
  }
}

/* Starting --------------------------------------------------------------------------------------------------------- */

static void start_partitioned(Request* request, MPI_Request* handle) {
#if MPI_VERSION >= 4
  const int peer = 1 - world_rank;
  if (!request->is_send) {
    MPI_Precv_init(request->data, kParts, 1, MPI_INT, peer, request->tag, MPI_COMM_WORLD, MPI_INFO_NULL, handle);
    MPI_Start(handle);
    return;
  }
  MPI_Psend_init(request->data, kParts, 1, MPI_INT, peer, request->tag, MPI_COMM_WORLD, MPI_INFO_NULL, handle);
  MPI_Start(handle);
  MPI_Request copy = *handle;
  for (int p = 0; p < kParts; ++p) {
#pragma omp task untied firstprivate(copy, request, p)
    {
      request->data[p] = request->tag + p;
      MPI_Pready(p, copy);
    }
  }
#else
  (void)request;
  (void)handle;
#endif
}

static void start_persistent(Request* request, MPI_Request* handle) {
  const int peer = 1 - world_rank;
  if (request->is_send)
    MPI_Send_init(request->data, 1, MPI_INT, peer, request->tag, MPI_COMM_WORLD, handle);
  else
    MPI_Recv_init(request->data, 1, MPI_INT, peer, request->tag, MPI_COMM_WORLD, handle);
  if (request->kind == kPersistent) MPI_Start(handle);
}

static void start_message(Request* request, MPI_Request* handle) {
  const int peer = 1 - world_rank, count = request->kind == kTooLong ? 1 : kParts;
  if (!request->is_send)
    MPI_Irecv(request->data, count, MPI_INT, peer, request->tag, MPI_COMM_WORLD, handle);
  else if (request->kind == kSynchronous)
    MPI_Issend(request->data, kParts, MPI_INT, peer, request->tag, MPI_COMM_WORLD, handle);
  else
    MPI_Isend(request->data, kParts, MPI_INT, peer, request->tag, MPI_COMM_WORLD, handle);
}

static void start_one(Set* set, int i) {
  Request* request = &set->requests[i];
  MPI_Request* handle = &set->handles[i];
  request->data[0] = request->is_send && request->kind != kPartitioned ? request->tag : -1;
  switch (request->kind) {
    case kNull: *handle = MPI_REQUEST_NULL; return;
    case kInactive: start_persistent(request, handle); return;
    case kPersistent: start_persistent(request, handle); break;
    case kPartitioned: start_partitioned(request, handle); break;
    case kGeneralized:
    case kCancelledGeneralized: start_generalized(request, handle); break;
    case kCollective:
      request->data[1] = world_rank + 1;
      MPI_Iallreduce(&request->data[1], &request->data[2], 1, MPI_INT, MPI_SUM, request->comm, handle);
      break;
    case kPersistentCollective:
      *handle = persistent_barriers[set->number];
      MPI_Start(handle);
      break;
    case kCancelled:
      MPI_Irecv(request->data, 1, MPI_INT, 1 - world_rank, kMostTasks * kMany + request->tag, MPI_COMM_WORLD, handle);
      MPI_Cancel(handle);
      break;
    default: start_message(request, handle);
  }
  ++set->left;
}

/* Completing ------------------------------------------------------------------------------------------------------- */

static int stays(const Request* request) {
  return request->kind == kPersistent || request->kind == kPartitioned || request->kind == kPersistentCollective;
}

static void check_status(const Request* request, const MPI_Status* status) {
  int count = -1, is_cancelled = 0;
  if (request->kind == kGeneralized || request->kind == kCancelledGeneralized) {
    MPI_Get_elements(status, MPI_INT, &count);
    expect(count == request->tag, "a generalized request's own status");
  }
  if (request->kind == kCancelled || request->kind == kCancelledGeneralized) {
    MPI_Test_cancelled(status, &is_cancelled);
    expect(is_cancelled, "a request that was cancelled says so");
  }
  if (!request->is_send && (request->kind == kMessage || request->kind == kSynchronous || request->kind == kPersistent))
    expect(status->MPI_TAG == request->tag && status->MPI_SOURCE == 1 - world_rank, "a receive's own status");
}

static void check_data(const Request* request) {
  if (request->kind == kCollective) expect(request->data[2] == 3, "a reduction");
  if (request->is_send) return;
  if (request->kind == kMessage || request->kind == kSynchronous || request->kind == kPersistent)
    expect(request->data[0] == request->tag, "a message has come");
  for (int p = 0; request->kind == kPartitioned && p < kParts; ++p)
    expect(request->data[p] == request->tag + p, "all parts have come");
}

/* `status`: null if the call was to ignore them. */
static void take(Set* set, int i, const MPI_Status* status, int error) {
  expect(i >= 0 && i < set->count, "a request of the set is completed");
  Request* request = &set->requests[i];
  expect(!request->done && request->kind != kNull && request->kind != kInactive,
         "an active request is completed, once");
  request->done = 1;
  --set->left;
  if (request->kind == kTooLong) {
    expect(class_of(error) == MPI_ERR_TRUNCATE || (status == NULL && class_of(error) == MPI_ERR_IN_STATUS),
           "a message that is too long is an error of its request");
    return;
  }
  expect(error == MPI_SUCCESS, "no other request fails");
  expect((set->handles[i] != MPI_REQUEST_NULL) == stays(request), "a persistent request stays, others are null");
  if (status != NULL) check_status(request, status);
  check_data(request);
}

static int is_open(const Set* set, int i) {
  const Request* request = &set->requests[i];
  return request->kind != kNull && request->kind != kInactive && !request->done;
}

/* All requests are complete, or there is an error and the statuses say what happened to each. */
static void take_all(Set* set, int error) {
  expect(error == MPI_SUCCESS || class_of(error) == MPI_ERR_IN_STATUS, "an error is one in the statuses");
  for (int i = 0; i < set->count; ++i) {
    const int own = error == MPI_SUCCESS ? MPI_SUCCESS : set->statuses[i].MPI_ERROR;
    if (is_open(set, i) && class_of(own) != MPI_ERR_PENDING) take(set, i, &set->statuses[i], own);
  }
}

static void take_all_ignored(Set* set) {
  for (int i = 0; i < set->count; ++i) {
    if (is_open(set, i)) take(set, i, NULL, MPI_SUCCESS);
  }
}

static void by_all(Set* set, int tests) {
  MPI_Status* statuses = set->with_statuses ? set->statuses : MPI_STATUSES_IGNORE;
  while (set->left > 0) {
    int flag = 1, error;
    if (tests)
      error = MPI_Testall(set->count, set->handles, &flag, statuses);
    else
      error = MPI_Waitall(set->count, set->handles, statuses);
    if (!set->with_statuses) expect(error == MPI_SUCCESS, "sets with an error have statuses");
    if (error != MPI_SUCCESS || (flag && set->with_statuses))
      take_all(set, error);
    else if (flag)
      take_all_ignored(set);
#pragma omp taskyield
  }
}

static void by_any(Set* set, int tests) {
  MPI_Status own;
  MPI_Status* status = set->with_statuses ? &own : MPI_STATUS_IGNORE;
  int index = -1, flag = 1, error;
  while (set->left > 0) {
    memset(&own, 0, sizeof own);
    if (tests)
      error = MPI_Testany(set->count, set->handles, &index, &flag, status);
    else
      error = MPI_Waitany(set->count, set->handles, &index, status);
    if (flag || error != MPI_SUCCESS) take(set, index, set->with_statuses ? &own : NULL, error);
#pragma omp taskyield
  }
  expect(MPI_Waitany(set->count, set->handles, &index, status) == MPI_SUCCESS && index == MPI_UNDEFINED,
         "none is left");
}

static void by_some(Set* set, int tests) {
  MPI_Status* statuses = set->with_statuses ? set->statuses : MPI_STATUSES_IGNORE;
  int count = 0, indices[kMany];
  while (set->left > 0) {
    int error;
    if (tests)
      error = MPI_Testsome(set->count, set->handles, &count, indices, statuses);
    else
      error = MPI_Waitsome(set->count, set->handles, &count, indices, statuses);
    expect(error == MPI_SUCCESS || class_of(error) == MPI_ERR_IN_STATUS, "an error is one in the statuses");
    expect(count > 0 || (tests && count == 0), "MPI_Waitsome finds some");
    for (int i = 0; i < count; ++i)
      take(set, indices[i], set->with_statuses ? &set->statuses[i] : NULL,
           error == MPI_SUCCESS ? MPI_SUCCESS : set->statuses[i].MPI_ERROR);
#pragma omp taskyield
  }
  expect(MPI_Waitsome(set->count, set->handles, &count, indices, statuses) == MPI_SUCCESS && count == MPI_UNDEFINED,
         "none is left");
}

static void one_by_one(Set* set, int tests) {
  for (int i = 0; i < set->count; ++i) {
    MPI_Status own;
    MPI_Status* status = set->with_statuses ? &own : MPI_STATUS_IGNORE;
    int flag = !tests, error = MPI_SUCCESS;
    if (!tests) error = MPI_Wait(&set->handles[i], status);
    while (!flag && error == MPI_SUCCESS) {
      error = MPI_Test(&set->handles[i], &flag, status);
#pragma omp taskyield
    }
    if (is_open(set, i)) take(set, i, set->with_statuses ? &own : NULL, error);
  }
}

static void complete(Set* set, Way way) {
  switch (way) {
    case kWaitall:
    case kTestall: by_all(set, way == kTestall); break;
    case kWaitany:
    case kTestany: by_any(set, way == kTestany); break;
    case kWaitsome:
    case kTestsome: by_some(set, way == kTestsome); break;
    default: one_by_one(set, way == kTest);
  }
}

static void run(Set* set) {
  const unsigned base = 1000u * (unsigned)(set->number + 1);
  plan(set);
  set->with_statuses = has(set, kTooLong) || mix(base + 5) % 3 != 0;
  for (int i = 0; i < set->count; ++i) start_one(set, i);
  complete(set, way_of(set));
  expect(set->left == 0, "all are completed");
#pragma omp taskwait
  for (int i = 0; i < set->count; ++i) {
    if (set->handles[i] != MPI_REQUEST_NULL && set->requests[i].kind != kPersistentCollective)
      MPI_Request_free(&set->handles[i]);
  }
}

static void run_program(void) {
  static Set sets[kMostTasks];
  const int tasks = (int)task_count();
#pragma omp parallel
#pragma omp single
  for (int k = 0; k < tasks; ++k) {
    Set* set = &sets[world_rank == 0 ? k : tasks - 1 - k];
    set->number = (int)(set - sets);
#pragma omp task untied firstprivate(set)
    run(set);
  }
  MPI_Barrier(MPI_COMM_WORLD); /* the next program has the same tags */
}

int main(int argc, char** argv) {
  start(&argc, &argv, 2);
  expect(argc == 3, "usage: request_kinds SEED PROGRAMS");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int i = 0; i < kMostTasks; ++i) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
#if MPI_VERSION >= 4
    MPI_Barrier_init(comms[i], MPI_INFO_NULL, &persistent_barriers[i]);
#endif
  }
  run_programs(argv, run_program);
  for (int i = 0; i < kMostTasks; ++i) {
#if MPI_VERSION >= 4
    MPI_Request_free(&persistent_barriers[i]);
#endif
    MPI_Comm_free(&comms[i]);
  }
  return finish();
}
