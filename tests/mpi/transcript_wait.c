/* SPDX-License-Identifier: Apache-2.0
 *
 * Transcript of Wait, Waitall and Waitany: null, inactive and persistent requests, sends and receives mixed, partial
 * completion, requests of collectives, generalised requests, and statuses that are ignored.
 */
#include <string.h>

#include "transcript.h"

enum { kRequests = 6 };

static void send_tags(int first, int last) {
  for (int tag = first; tag <= last; ++tag) {
    let_peer_block();
    MPI_Send(&tag, 1, MPI_INT, 1, tag, MPI_COMM_WORLD);
  }
}

static void wait_null(void) {
  MPI_Status status = fresh_status();
  MPI_Request request = MPI_REQUEST_NULL;
  int error = MPI_Wait(&request, &status);
  record_status("Wait null", error, &status);
  MPI_Recv_init(&error, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
  status = fresh_status();
  record_status("Wait inactive", MPI_Wait(&request, &status), &status);
  record("Wait inactive", MPI_SUCCESS, "null", request == MPI_REQUEST_NULL);
  MPI_Request_free(&request);
}

static void wait_persistent(void) {
  if (world_rank == 0) {
    send_tags(1, 1);
    send_tags(1, 1);
    return;
  }
  int got = 0;
  MPI_Request request;
  MPI_Recv_init(&got, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &request);
  for (int i = 0; i < 2; ++i) {
    MPI_Status status = fresh_status();
    MPI_Start(&request);
    record_status("Wait persistent", MPI_Wait(&request, &status), &status);
    record("Wait persistent", MPI_SUCCESS, "still a request", request != MPI_REQUEST_NULL);
  }
  MPI_Request_free(&request);
}

static void waitall_mixed(void) {
  const int peer = 1 - world_rank;
  int in[2] = {-1, -1};
  MPI_Request requests[kRequests];
  MPI_Status statuses[kRequests];
  for (int i = 0; i < kRequests; ++i) statuses[i] = fresh_status();
  if (world_rank == 0) let_peer_block();
  requests[0] = MPI_REQUEST_NULL;
  MPI_Irecv(&in[0], 1, MPI_INT, peer, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Issend(&peer, 1, MPI_INT, peer, 2, MPI_COMM_WORLD, &requests[2]);
  MPI_Recv_init(&in[1], 1, MPI_INT, peer, 2, MPI_COMM_WORLD, &requests[3]);
  MPI_Start(&requests[3]);
  MPI_Send_init(&peer, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, &requests[4]);
  MPI_Start(&requests[4]);
  MPI_Recv_init(&in[1], 1, MPI_INT, peer, 3, MPI_COMM_WORLD, &requests[5]); /* stays inactive */
  const int error = MPI_Waitall(kRequests, requests, statuses);
  for (int i = 0; i < kRequests; ++i) {
    if (i == 1 || i == 3) record_status("Waitall received", error, &statuses[i]);
    record("Waitall", error, "null", requests[i] == MPI_REQUEST_NULL);
  }
  record("Waitall", error, "sum", in[0] + in[1]);
  for (int i = 3; i < kRequests; ++i) MPI_Request_free(&requests[i]);
}

static void waitall_nothing(void) {
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status statuses[2] = {fresh_status(), fresh_status()};
  record("Waitall of none", MPI_Waitall(0, requests, statuses), "count", 0);
  const int error = MPI_Waitall(2, requests, statuses);
  record_status("Waitall of null ones", error, &statuses[0]);
  record_status("Waitall of null ones", error, &statuses[1]);
}

static void waitall_without_statuses(void) {
  if (world_rank == 0) {
    send_tags(1, 4);
    return;
  }
  int in[4] = {0};
  MPI_Request requests[4];
  for (int i = 0; i < 4; ++i) MPI_Irecv(&in[i], 1, MPI_INT, 0, i + 1, MPI_COMM_WORLD, &requests[i]);
  const int error = MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  record("Waitall, no statuses", error, "digits", in[0] * 1000 + in[1] * 100 + in[2] * 10 + in[3]);
}

static void waitany_all(void) {
  if (world_rank == 0) {
    send_tags(1, 3);
    return;
  }
  int in[4] = {0};
  MPI_Request requests[5] = {MPI_REQUEST_NULL};
  for (int i = 1; i < 4; ++i) MPI_Irecv(&in[i], 1, MPI_INT, 0, i, MPI_COMM_WORLD, &requests[i]);
  MPI_Recv_init(&in[0], 1, MPI_INT, 0, 4, MPI_COMM_WORLD, &requests[4]); /* stays inactive */
  for (int i = 0; i < 4; ++i) {                                          /* the fourth finds nothing to wait for */
    int index = kUntouched;
    MPI_Status status = fresh_status();
    const int error = MPI_Waitany(5, requests, &index, &status);
    record_status("Waitany", error, &status);
    record("Waitany", error, index == MPI_UNDEFINED ? "undefined" : "index", index == MPI_UNDEFINED ? 1 : index);
  }
  for (int i = 0; i < 4; ++i) record("Waitany", MPI_SUCCESS, "null", requests[i] == MPI_REQUEST_NULL);
  MPI_Request_free(&requests[4]);
}

static void waitany_nothing(void) {
  int index = kUntouched;
  MPI_Status status = fresh_status();
  const int error = MPI_Waitany(0, NULL, &index, &status);
  record_status("Waitany of none", error, &status);
  record("Waitany of none", error, "undefined", index == MPI_UNDEFINED);
}

static void cancelled(void) {
  int in = 0;
  MPI_Request request;
  MPI_Status status = fresh_status();
  MPI_Irecv(&in, 1, MPI_INT, 1 - world_rank, 77, MPI_COMM_WORLD, &request);
  MPI_Cancel(&request);
  const int error = MPI_Wait(&request, &status);
  int flag = -1;
  MPI_Test_cancelled(&status, &flag);
  record("Wait cancelled", error, "cancelled", flag);
}

static void wait_collective(void) {
  int sum = -1;
  MPI_Request request;
  if (world_rank == 0) let_peer_block();
  MPI_Iallreduce(&world_size, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  const int error = MPI_Wait(&request, MPI_STATUS_IGNORE);
  record("Wait for Iallreduce", error, "sum", sum);
}

static int fill(void* state, MPI_Status* status) {
  MPI_Status_set_elements(status, MPI_INT, *(int*)state);
  MPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = 3;
  status->MPI_TAG = 4;
  return MPI_SUCCESS;
}
static int release(void* state) {
  *(int*)state = 0;
  return MPI_SUCCESS;
}
static int refuse(void* state, int complete) {
  (void)state;
  (void)complete;
  return MPI_SUCCESS;
}

static void wait_generalised(void) {
  int state = 5;
  MPI_Request request;
  MPI_Status status = fresh_status();
  MPI_Grequest_start(fill, release, refuse, &state, &request);
  MPI_Request user = request;
#pragma omp task
  {
    let_peer_block();
    MPI_Grequest_complete(user);
  }
  record_status("Wait generalised", MPI_Wait(&request, &status), &status);
#pragma omp taskwait
  record("Wait generalised", MPI_SUCCESS, "freed", state == 0);
}

int main(int argc, char** argv) {
  static const Step kSteps[] = {{"wait_null", wait_null},
                                {"wait_persistent", wait_persistent},
                                {"waitall_mixed", waitall_mixed},
                                {"waitall_nothing", waitall_nothing},
                                {"waitall_without_statuses", waitall_without_statuses},
                                {"waitany_all", waitany_all},
                                {"waitany_nothing", waitany_nothing},
                                {"cancelled", cancelled},
                                {"wait_collective", wait_collective},
                                {"wait_generalised", wait_generalised}};
  start(&argc, &argv, 2);
  run_steps(kSteps, (int)(sizeof kSteps / sizeof kSteps[0]));
  return finish();
}
