/* SPDX-License-Identifier: Apache-2.0
 *
 * Random programs of tasks that wait for several requests each, by Waitall, Waitany or Waitsome: receives, synchronous
 * sends, persistent ones that are started or not, and null, in any mix; some receives fail because their message is too
 * long. Beside them tasks in MPI_Probe and MPI_Mprobe, for one message or any, on more communicators than the engine
 * groups. Messages come in another order. Every request is completed once, with its own result. Usage: several SEED
 */
#include <string.h>

#include "support.h"

enum { kTasks = 60, kMost = 40, kComms = 12, kProbes = 40, kLong = 3, kMessages = kTasks * kMost };
typedef enum Kind { kNull, kInactive, kReceive, kStarted, kSend, kTooLong } Kind;

static unsigned seed;
static int can_fail;
static MPI_Comm any, comms[kComms];
static int probed[kProbes];

/* A number for `what`, the same on both ranks. */
static unsigned random_of(unsigned what) {
  unsigned x = (what + 1) * 2654435761u ^ seed * 40503u;
  x ^= x >> 15;
  x *= 2246822519u;
  x ^= x >> 13;
  return x * 3266489917u >> 8;
}

static int requests_of(int task) {
  return task % 3 == 0 ? 1 + (int)(random_of((unsigned)task) % kMost) : 1 + (int)(random_of((unsigned)task) % 6);
}

static Kind kind_of(int tag) {
  static const Kind kinds[] = {kNull, kInactive, kReceive, kReceive, kReceive, kStarted, kSend};
  /* One in a set: if several fail in a call, Open MPI 4.1 frees all of them and reports one. */
  const int fails = can_fail && tag % kMost == (int)(random_of(400000u + (unsigned)(tag / kMost)) % 4);
  return fails ? kTooLong : kinds[random_of(100000u + (unsigned)tag) % 7];
}

/* A task's requests. */
typedef struct Set {
  int first; /* tag */
  int count;
  int left; /* active and not completed */
  int data[kMost];
  int done[kMost];
  MPI_Request requests[kMost];
} Set;

static void post(Set* set, int i) {
  const int tag = set->first + i;
  MPI_Request* request = &set->requests[i];
  set->data[i] = kind_of(tag) == kSend ? tag : -1;
  switch (kind_of(tag)) {
    case kNull: *request = MPI_REQUEST_NULL; return;
    case kInactive: MPI_Recv_init(&set->data[i], 1, MPI_INT, 0, tag, MPI_COMM_WORLD, request); return;
    case kStarted:
      MPI_Recv_init(&set->data[i], 1, MPI_INT, 0, tag, MPI_COMM_WORLD, request);
      MPI_Start(request);
      break;
    case kSend: MPI_Issend(&set->data[i], 1, MPI_INT, 0, tag, MPI_COMM_WORLD, request); break;
    default: MPI_Irecv(&set->data[i], 1, MPI_INT, 0, tag, MPI_COMM_WORLD, request);
  }
  ++set->left;
}

static int class_of(int error) {
  int class = MPI_SUCCESS;
  MPI_Error_class(error, &class);
  return class;
}

static void take(Set* set, int i, const MPI_Status* status, int error) {
  expect(i >= 0 && i < set->count && !set->done[i], "a request is completed once");
  const int tag = set->first + i;
  const Kind kind = kind_of(tag);
  expect(kind != kNull && kind != kInactive, "and is one that was active");
  set->done[i] = 1;
  --set->left;
  if (kind == kTooLong) {
    expect(class_of(error) == MPI_ERR_TRUNCATE, "a message that is too long is an error of this request");
    return;
  }
  expect(error == MPI_SUCCESS, "only that is an error");
  expect((set->requests[i] == MPI_REQUEST_NULL) == (kind != kStarted), "a persistent one stays, others are null then");
  expect(kind == kSend || (set->data[i] == tag && status->MPI_TAG == tag && status->MPI_SOURCE == 0),
         "a receive has its own message and status");
}

/* After an error, the statuses say which requests failed; MPI_ERR_PENDING: neither complete nor failed. */
static void wait_all(Set* set) {
  while (set->left > 0) {
    MPI_Status statuses[kMost];
    const int error = MPI_Waitall(set->count, set->requests, statuses);
    expect(error == MPI_SUCCESS || class_of(error) == MPI_ERR_IN_STATUS, "Waitall");
    for (int i = 0; i < set->count; ++i) {
      const Kind kind = kind_of(set->first + i);
      const int own = error == MPI_SUCCESS ? MPI_SUCCESS : statuses[i].MPI_ERROR;
      if (kind != kNull && kind != kInactive && !set->done[i] && class_of(own) != MPI_ERR_PENDING)
        take(set, i, &statuses[i], own);
    }
  }
}

static void wait_any(Set* set) {
  int index = -1;
  MPI_Status status;
  while (set->left > 0) {
    memset(&status, 0, sizeof status);
    const int error = MPI_Waitany(set->count, set->requests, &index, &status);
    expect(status.MPI_ERROR == 0 || error != MPI_SUCCESS, "MPI_ERROR of a single status stays as it is");
    take(set, index, &status, error);
  }
  expect(MPI_Waitany(set->count, set->requests, &index, &status) == MPI_SUCCESS && index == MPI_UNDEFINED,
         "none is left");
}

static void wait_some(Set* set) {
  int count = 0, indices[kMost];
  MPI_Status statuses[kMost];
  while (set->left > 0) {
    const int error = MPI_Waitsome(set->count, set->requests, &count, indices, statuses);
    expect(error == MPI_SUCCESS || class_of(error) == MPI_ERR_IN_STATUS, "Waitsome");
    expect(count > 0, "Waitsome finds some");
    for (int i = 0; i < count; ++i)
      take(set, indices[i], &statuses[i], error == MPI_SUCCESS ? MPI_SUCCESS : statuses[i].MPI_ERROR);
  }
  expect(MPI_Waitsome(set->count, set->requests, &count, indices, statuses) == MPI_SUCCESS && count == MPI_UNDEFINED,
         "none is left");
}

static void wait_for_set(int task) {
  static void (*const ways[])(Set*) = {wait_all, wait_any, wait_some};
  Set* set = calloc(1, sizeof *set);
  expect(set != NULL, "memory");
  set->first = task * kMost;
  set->count = requests_of(task);
  for (int i = 0; i < set->count; ++i) post(set, i);
  ways[random_of(200000u + (unsigned)task) % 3](set);
  for (int i = 0; i < set->count; ++i) {
    if (set->requests[i] != MPI_REQUEST_NULL) MPI_Request_free(&set->requests[i]);
  }
  free(set);
}

/* Odd tasks wait for any message; the others wait for their own. */
static void wait_for_message(int i) {
  int got = -1;
  MPI_Status status;
  MPI_Message message;
  if (i % 2 == 1) {
    MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, any, &message, &status);
    MPI_Mrecv(&got, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    expect(status.MPI_TAG == got, "the message that was probed");
  } else {
    MPI_Comm comm = comms[i % kComms];
    MPI_Probe(0, i, comm, &status);
    MPI_Recv(&got, 1, MPI_INT, 0, i, comm, MPI_STATUS_IGNORE);
    expect(status.MPI_TAG == i && got == i, "the message that was probed for");
  }
#pragma omp atomic
  ++probed[got];
}

static void receive(void) {
#pragma omp parallel
#pragma omp single
  {
    for (int task = 0; task < kTasks; ++task) {
#pragma omp task
      wait_for_set(task);
    }
    for (int i = 0; i < kProbes; ++i) {
#pragma omp task
      wait_for_message(i);
    }
  }
  for (int i = 0; i < kProbes; ++i) expect(probed[i] == 1, "each message is received once");
}

static void serve(int tag) {
  int data[kLong] = {tag, tag, tag};
  switch (kind_of(tag)) {
    case kNull:
    case kInactive: return;
    case kSend:
      MPI_Recv(data, 1, MPI_INT, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      expect(data[0] == tag, "the message of a send");
      return;
    default: MPI_Send(data, kind_of(tag) == kTooLong ? kLong : 1, MPI_INT, 1, tag, MPI_COMM_WORLD);
  }
}

static void serve_all(void) {
  static const int steps[] = {1, 7, 617, 1013, 2399}; /* have no common factor with kMessages */
  const long step = steps[random_of(300000) % 5];
  for (int sent = 0; sent < kMessages; ++sent) {
    const int tag = (int)(sent * step % kMessages);
    if (tag % kMost < requests_of(tag / kMost)) serve(tag);
    if (sent % 100 == 0) let_peer_block();
    if (sent % (kMessages / kProbes) == 0) {
      int i = sent / (kMessages / kProbes) * 7 % kProbes;
      MPI_Send(&i, 1, MPI_INT, 1, i, i % 2 == 1 ? any : comms[i % kComms]);
    }
  }
}

int main(int argc, char** argv) {
  start(&argc, &argv, 2);
  expect(argc >= 2, "usage: several SEED");
  seed = (unsigned)atoi(argv[1]);
  can_fail = seed % 2 == 1;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_dup(MPI_COMM_WORLD, &any);
  for (int i = 0; i < kComms; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
  if (world_rank == 0)
    serve_all();
  else
    receive();
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm_free(&any);
  for (int i = 0; i < kComms; ++i) MPI_Comm_free(&comms[i]);
  return finish();
}
