/* SPDX-License-Identifier: Apache-2.0
 *
 * MPI_Waitall in a suspended task, with a truncated message in the middle: each status says what happened to its
 * request, and requests that are still pending can be waited for again. This is not a transcript, because there is
 * nothing to compare with: MPI may end the wait at the first error or wait for all, and plain Open MPI 4.1 with threads
 * does not return at all from MPI_Waitall when a request has failed before the call.
 */
#include "support.h"

enum { kMessages = 3, kInts = 8 };

static int class_of(int error) {
  int class = -1;
  MPI_Error_class(error, &class);
  return class;
}

static void receive(int* buffer) {
  MPI_Request requests[kMessages];
  MPI_Status statuses[kMessages];
  for (int i = 0; i < kMessages; ++i)
    MPI_Irecv(buffer + kInts * i, i == 1 ? 4 : kInts, MPI_INT, 0, i, MPI_COMM_WORLD, &requests[i]);
  expect(class_of(MPI_Waitall(kMessages, requests, statuses)) == MPI_ERR_IN_STATUS, "Waitall says MPI_ERR_IN_STATUS");
  for (int i = 0; i < kMessages; ++i) {
    const int class = class_of(statuses[i].MPI_ERROR);
    const int pending = class == MPI_ERR_PENDING;
    expect(i == 1 ? class == MPI_ERR_TRUNCATE : class == MPI_SUCCESS || pending, "the status of each request");
    expect((requests[i] == MPI_REQUEST_NULL) == !pending, "a request is null unless it is pending");
  }
  expect(MPI_Waitall(kMessages, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS, "Waitall for what was pending");
  expect(buffer[0] == 0 && buffer[2 * kInts] == 2, "the messages that fit have come");
}

static void send(int* buffer) {
  for (int tag = 0; tag < kMessages; ++tag) {
    let_peer_block();
    buffer[0] = tag;
    MPI_Send(buffer, kInts, MPI_INT, 1, tag, MPI_COMM_WORLD);
  }
}

int main(int argc, char** argv) {
  int buffer[kMessages * kInts] = {-1};
  start(&argc, &argv, 2);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task shared(buffer)
    {
      if (world_rank == 0)
        send(buffer);
      else
        receive(buffer);
    }
  }
  return finish();
}
