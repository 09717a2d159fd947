/* SPDX-License-Identifier: Apache-2.0
 *
 * MPI_Waitany and MPI_Waitsome in a suspended task, where two receives fail between two polls: both messages are too
 * long. Each handle is afterwards what MPI leaves: null, or a handle that can still be waited for, but not one that MPI
 * has freed and gives to the next request. Rank 1 receives on one thread, which does not poll until both messages must
 * have come; MARLINE_PROGRESS=weak keeps other threads from polling.
 */
#include <stdatomic.h>

#include "support.h"

enum { kInts = 8, kGo = 76, kAnother = 77, kArrival = 50 * 1000 /* microseconds */ };

static atomic_int posted;

static void expect_truncated(int error, const char* what) {
  int class = -1;
  MPI_Error_class(error, &class);
  expect(class == MPI_ERR_TRUNCATE, what);
}

/* A request that the call has not reported. */
static void end_other(MPI_Request* other) {
  int buffer = -1;
  MPI_Request next;
  MPI_Irecv(&buffer, 1, MPI_INT, 0, kAnother, MPI_COMM_WORLD, &next);
  expect(*other == MPI_REQUEST_NULL || *other != next, "a freed request has become another one");
  if (*other != MPI_REQUEST_NULL) expect_truncated(MPI_Wait(other, MPI_STATUS_IGNORE), "the other one has failed, too");
  MPI_Cancel(&next);
  MPI_Wait(&next, MPI_STATUS_IGNORE);
}

static void begin(int* received, MPI_Request* requests) {
  for (int i = 0; i < 2; ++i) MPI_Irecv(&received[i], 1, MPI_INT, 0, i, MPI_COMM_WORLD, &requests[i]);
  posted = 1;
}

static void wait_any(void) {
  int received[2], index = -1;
  MPI_Request requests[2];
  begin(received, requests);
  expect_truncated(MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE), "Waitany says what has failed");
  expect(index == 0 || index == 1, "and which");
  expect(requests[index] == MPI_REQUEST_NULL, "its handle is null");
  end_other(&requests[1 - index]);
}

static void wait_some(void) {
  int received[2], count = -1, indices[2] = {-1, -1}, reported[2] = {0, 0}, class = -1;
  MPI_Request requests[2];
  MPI_Status statuses[2];
  begin(received, requests);
  MPI_Error_class(MPI_Waitsome(2, requests, &count, indices, statuses), &class);
  expect(class == MPI_ERR_IN_STATUS && count >= 1 && count <= 2, "Waitsome says that some have failed");
  for (int i = 0; i < count; ++i) {
    expect(indices[i] == 0 || indices[i] == 1, "and which");
    expect_truncated(statuses[i].MPI_ERROR, "and how");
    expect(requests[indices[i]] == MPI_REQUEST_NULL && !reported[indices[i]], "each handle is null, and told once");
    reported[indices[i]] = 1;
  }
  for (int i = 0; i < 2; ++i) {
    if (!reported[i]) expect(requests[i] != MPI_REQUEST_NULL, "nothing ends untold");
    end_other(&requests[i]);
  }
}

static void receive(void (*wait)(void)) {
  posted = 0;
#pragma omp parallel num_threads(1)
#pragma omp single
  {
#pragma omp task untied
    wait();
    for (double end = MPI_Wtime() + kArrival * 1e-6; !posted || MPI_Wtime() < end;) { /* until the poller asks */
#pragma omp taskyield
    }
    MPI_Send(NULL, 0, MPI_INT, 0, kGo, MPI_COMM_WORLD);
    usleep(kArrival);
  }
}

static void send(void) {
  int data[kInts] = {0};
  MPI_Recv(NULL, 0, MPI_INT, 1, kGo, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int tag = 0; tag < 2; ++tag) MPI_Send(data, kInts, MPI_INT, 1, tag, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  static void (*const kWaits[])(void) = {wait_any, wait_some};
  start(&argc, &argv, 2);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int i = 0; i < 2; ++i) {
    if (world_rank == 0)
      send();
    else
      receive(kWaits[i]);
  }
  return finish();
}
