/* SPDX-License-Identifier: Apache-2.0
 *
 * A program in MPI Detach's terms: each of the six ways, with tasks that a callback completes. Works without Marline,
 * too (argument `plain`): each call then waits, and the messages are in flight before the first call. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_NEXT */
#endif
#include <dlfcn.h>
#include <omp.h>
#include <stdint.h>
#include <string.h>

#include "mpi-detach.h"
#include "support.h"

enum { kEach = 12, kMessages = 6 * kEach };

static int received[kMessages], sent[kMessages], calls[kMessages];
static int peer;

static void check_status(const MPI_Status* status, int i) {
  expect(status->MPI_SOURCE == peer && status->MPI_TAG == i && status->MPI_ERROR == MPI_SUCCESS, "a callback's status");
}

static void told(int i) {
  expect(received[i] == 100 * peer + i, "a callback comes after the message");
  __atomic_fetch_add(&calls[i], 1, __ATOMIC_RELEASE);
}

static void one(void* data) { told((int)((int*)data - received)); }

static void one_with_status(void* data, MPI_Status* status) {
  check_status(status, (int)((int*)data - received));
  one(data);
}

static void all(void* data) {
  for (int i = 0; i < kEach; ++i) one((int*)data + i);
}

static void all_with_statuses(void* data, int count, MPI_Status statuses[]) {
  expect(count == kEach, "a callback hears of all its requests");
  for (int i = 0; i < count; ++i) one_with_status((int*)data + i, &statuses[i]);
}

static void fulfil(void* event) { omp_fulfill_event((omp_event_handle_t)(uintptr_t)event); }

static void receive(MPI_Request requests[], int first) {
  for (int i = 0; i < kEach; ++i)
    MPI_Irecv(&received[first + i], 1, MPI_INT, peer, first + i, MPI_COMM_WORLD, &requests[i]);
}

static void six_ways(void) {
  MPI_Request requests[kEach];
  void* data[kEach];
  for (int way = 0; way < 6; ++way) {
    const int first = way * kEach;
    receive(requests, first);
    for (int i = 0; i < kEach; ++i) data[i] = &received[first + i];
    for (int i = 0; i < kEach && way < 2; ++i) {
      if (way == 0)
        expect(MPIX_Detach(&requests[i], one, data[i]) == MPI_SUCCESS, "MPIX_Detach");
      else
        expect(MPIX_Detach_status(&requests[i], one_with_status, data[i]) == MPI_SUCCESS, "MPIX_Detach_status");
    }
    if (way == 2) expect(MPIX_Detach_each(kEach, requests, one, data) == MPI_SUCCESS, "MPIX_Detach_each");
    if (way == 3)
      expect(MPIX_Detach_each_status(kEach, requests, one_with_status, data) == MPI_SUCCESS, "..._each_status");
    if (way == 4) expect(MPIX_Detach_all(kEach, requests, all, data[0]) == MPI_SUCCESS, "MPIX_Detach_all");
    if (way == 5)
      expect(MPIX_Detach_all_status(kEach, requests, all_with_statuses, data[0]) == MPI_SUCCESS, "..._all_status");
    for (int i = 0; i < kEach; ++i) expect(requests[i] == MPI_REQUEST_NULL, "a detached request is null");
  }
}

static void send_all(MPI_Request requests[]) {
  for (int i = 0; i < kMessages; ++i) {
    sent[i] = 100 * world_rank + i;
    MPI_Isend(&sent[i], 1, MPI_INT, peer, i, MPI_COMM_WORLD, &requests[i]);
  }
}

/* The example that MPI Detach was made for: a detached task; its successor uses the message. */
static void tasks_that_callbacks_complete(void) {
  static int value, mine;
#pragma omp parallel
#pragma omp single
  {
    omp_event_handle_t event;
    MPI_Request send;
    mine = 40 + world_rank;
    MPI_Isend(&mine, 1, MPI_INT, peer, 1000, MPI_COMM_WORLD, &send);
#pragma omp task depend(out : value) detach(event)
    {
      MPI_Request request;
      MPI_Irecv(&value, 1, MPI_INT, peer, 1000, MPI_COMM_WORLD, &request);
      MPIX_Detach(&request, fulfil, (void*)(uintptr_t)event);
    }
#pragma omp task depend(in : value)
    expect(value == 40 + peer, "the successor of a detached task finds the message");
#pragma omp taskwait
    MPI_Wait(&send, MPI_STATUS_IGNORE);
  }
}

int main(int argc, char** argv) {
  static MPI_Request sends[kMessages];
  start(&argc, &argv, 2);
  peer = 1 - world_rank;
  const int plain = argc > 1 && strcmp(argv[1], "plain") == 0;
  expect((dlsym(RTLD_NEXT, "MPIX_Detach_all_status") != NULL) == !plain, "libmarline-mpi has the names, too");
  if (plain) send_all(sends);
  six_ways();
  if (!plain) send_all(sends);
  for (int i = 0; i < kMessages; ++i) {
    while (__atomic_load_n(&calls[i], __ATOMIC_ACQUIRE) == 0) MPIX_Progress(NULL);
  }
  MPI_Waitall(kMessages, sends, MPI_STATUSES_IGNORE);
  tasks_that_callbacks_complete();
  for (int i = 0; i < kMessages; ++i) expect(calls[i] == 1, "each callback was called once");
  return finish();
}
