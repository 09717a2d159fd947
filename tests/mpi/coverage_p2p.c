/* SPDX-License-Identifier: Apache-2.0
 *
 * Every blocking call of point-to-point communication (MPI 3.1, chapter 3; MPI 4.0, chapters 3 and 4), in a task that
 * has to let another one run. See coverage.h.
 */
#include <string.h>

#include "coverage.h"

static int out[kLarge];
static int in[kLarge];

static int element(int sender, int i) { return sender * kLarge + i; }

static void fill(void) {
  for (int i = 0; i < kLarge; ++i) out[i] = element(world_rank, i);
}

static void expect_content(const int* data) {
  for (int i = 0; i < kLarge; ++i) expect(data[i] == element(peer, i), "content of the message");
}

static void expect_status(const MPI_Status* status, int tag, int length) {
  int count = -1;
  MPI_Get_count(status, MPI_INT, &count);
  expect(status->MPI_SOURCE == peer && status->MPI_TAG == tag && count == length, "source, tag and count");
}

/* Sends: the peer's answer receives -------------------------------------------------------------------------------- */

static void receive_large(void) {
  MPI_Status status;
  memset(in, 0, sizeof in);
  MPI_Recv(in, kLarge, MPI_INT, peer, 1, MPI_COMM_WORLD, &status);
  expect_status(&status, 1, kLarge);
  expect_content(in);
}

static void call_send(void) { MPI_Send(out, kLarge, MPI_INT, peer, 1, MPI_COMM_WORLD); }
static void call_ssend(void) { MPI_Ssend(out, kLarge, MPI_INT, peer, 1, MPI_COMM_WORLD); }

static void call_isend(void) {
  MPI_Request request;
  MPI_Isend(out, kLarge, MPI_INT, peer, 1, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect(request == MPI_REQUEST_NULL, "Wait gives the request back");
}

static void call_issend(void) {
  MPI_Request request;
  MPI_Issend(out, kLarge, MPI_INT, peer, 1, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* The receiver is ready when it has said so. */
static void call_rsend(void) {
  await_release();
  MPI_Rsend(out, kLarge, MPI_INT, peer, 1, MPI_COMM_WORLD);
}

static void call_irsend(void) {
  MPI_Request request;
  await_release();
  MPI_Irsend(out, kLarge, MPI_INT, peer, 1, MPI_COMM_WORLD, &request);
  MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
}

static void answer_ready(void) {
  MPI_Request request;
  memset(in, 0, sizeof in);
  MPI_Irecv(in, kLarge, MPI_INT, peer, 1, MPI_COMM_WORLD, &request);
  release_peer();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect_content(in);
}

static void attach_buffer(void) {
  const size_t bytes = sizeof out + MPI_BSEND_OVERHEAD;
  MPI_Buffer_attach(malloc(bytes), (int)bytes);
}

/* Ends when the buffered message has left: the peer receives it in its second task. */
static void detach_buffer(void) {
  void* buffer = NULL;
  Count bytes = 0;
  MPI_Buffer_detach(&buffer, &bytes);
  expect(bytes == (Count)(sizeof out + MPI_BSEND_OVERHEAD), "the buffer's size");
  free(buffer);
}

static void call_bsend(void) {
  attach_buffer();
  MPI_Bsend(out, kLarge, MPI_INT, peer, 1, MPI_COMM_WORLD);
  detach_buffer();
}

static void call_ibsend(void) {
  MPI_Request request;
  attach_buffer();
  MPI_Ibsend(out, kLarge, MPI_INT, peer, 1, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  detach_buffer();
}

/* Receives and probes: the peer's answer sends --------------------------------------------------------------------- */

static void call_probe(void) {
  MPI_Status status;
  MPI_Probe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
  expect_status(&status, 1, kLarge);
  receive_large();
}

static void call_mprobe(void) {
  MPI_Message message;
  MPI_Status status;
  MPI_Mprobe(peer, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status);
  expect_status(&status, 1, kLarge);
  memset(in, 0, sizeof in);
  MPI_Mrecv(in, kLarge, MPI_INT, &message, &status);
  expect(message == MPI_MESSAGE_NULL, "Mrecv takes the message");
  expect_status(&status, 1, kLarge);
  expect_content(in);
}

/* Both at once ----------------------------------------------------------------------------------------------------- */

static void call_sendrecv(void) {
  MPI_Status status;
  memset(in, 0, sizeof in);
  MPI_Sendrecv(out, kLarge, MPI_INT, peer, 2, in, kLarge, MPI_INT, peer, 3, MPI_COMM_WORLD, &status);
  expect_status(&status, 3, kLarge);
  expect_content(in);
}

static void call_sendrecv_replace(void) {
  MPI_Status status;
  memcpy(in, out, sizeof in);
  MPI_Sendrecv_replace(in, kLarge, MPI_INT, peer, 2, peer, 3, MPI_COMM_WORLD, &status);
  expect_status(&status, 3, kLarge);
  expect_content(in);
}

static void answer_sendrecv(void) {
  int* got = calloc(kLarge, sizeof *got);
  MPI_Recv(got, kLarge, MPI_INT, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  expect_content(got);
  MPI_Send(out, kLarge, MPI_INT, peer, 3, MPI_COMM_WORLD);
  free(got);
}

/* Completion of several: two receives, the second one's message first ---------------------------------------------- */

static void receive_two(int got[2], MPI_Request requests[2]) {
  got[0] = got[1] = -1;
  MPI_Irecv(&got[0], 1, MPI_INT, peer, 10, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(&got[1], 1, MPI_INT, peer, 11, MPI_COMM_WORLD, &requests[1]);
}

static void answer_two(void) {
  MPI_Send(&world_rank, 1, MPI_INT, peer, 11, MPI_COMM_WORLD);
  await_release();
  MPI_Send(&world_rank, 1, MPI_INT, peer, 10, MPI_COMM_WORLD);
}

static void call_waitall(void) {
  int got[2];
  MPI_Request requests[2];
  MPI_Status statuses[2];
  receive_two(got, requests);
#pragma omp task
  release_peer();
  MPI_Waitall(2, requests, statuses);
  expect(got[0] == peer && got[1] == peer, "Waitall completes all");
  expect(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL, "Waitall gives all requests back");
  expect_status(&statuses[0], 10, 1);
  expect_status(&statuses[1], 11, 1);
}

static void call_waitany(void) {
  int got[2];
  int index = -1;
  MPI_Request requests[2];
  MPI_Status status;
  receive_two(got, requests);
  MPI_Waitany(2, requests, &index, &status);
  expect(index == 1 && got[1] == peer && requests[0] != MPI_REQUEST_NULL, "Waitany completes one");
  expect_status(&status, 11, 1);
  release_peer();
  MPI_Waitany(2, requests, &index, &status);
  expect(index == 0 && got[0] == peer, "Waitany completes the other");
  MPI_Waitany(2, requests, &index, &status);
  expect(index == MPI_UNDEFINED, "Waitany has nothing left");
}

static void call_waitsome(void) {
  int got[2];
  int count = -1;
  int indices[2] = {-1, -1};
  MPI_Request requests[2];
  MPI_Status statuses[2];
  receive_two(got, requests);
  MPI_Waitsome(2, requests, &count, indices, statuses);
  expect(count == 1 && indices[0] == 1 && got[1] == peer, "Waitsome completes one");
  expect_status(&statuses[0], 11, 1);
  release_peer();
  MPI_Waitsome(2, requests, &count, indices, MPI_STATUSES_IGNORE);
  expect(count == 1 && indices[0] == 0 && got[0] == peer, "Waitsome completes the other");
  MPI_Waitsome(2, requests, &count, indices, statuses);
  expect(count == MPI_UNDEFINED, "Waitsome has nothing left");
}

#if MPI_VERSION >= 4
static void call_isendrecv(void) {
  MPI_Request request;
  MPI_Status status;
  memset(in, 0, sizeof in);
  MPI_Isendrecv(out, kLarge, MPI_INT, peer, 2, in, kLarge, MPI_INT, peer, 3, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, &status);
  expect_content(in);
}

static void call_isendrecv_replace(void) {
  MPI_Request request;
  memcpy(in, out, sizeof in);
  MPI_Isendrecv_replace(in, kLarge, MPI_INT, peer, 2, peer, 3, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect_content(in);
}

enum { kParts = 16 };

/* The parts are ready one, some, and a list at a time; the rest after the peer has asked for them. */
static void call_partitioned_send(void) {
  MPI_Request request;
  int list[2] = {kParts - 1, kParts - 2};
  MPI_Psend_init(out, kParts, kLarge / kParts, MPI_INT, peer, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  for (int round = 0; round < 2; ++round) {
    MPI_Start(&request);
    MPI_Pready(0, request);
    MPI_Pready_list(2, list, request);
    await_release();
    MPI_Pready_range(1, kParts - 3, request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&request);
}

static void answer_partitioned(void) {
  MPI_Request request;
  MPI_Precv_init(in, kParts, kLarge / kParts, MPI_INT, peer, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  for (int round = 0; round < 2; ++round) {
    memset(in, 0, sizeof in);
    MPI_Start(&request);
#pragma omp task
    release_peer();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect_content(in);
  }
  MPI_Request_free(&request);
}
#endif

static const Check checks[] = {
    {"Recv", receive_large, call_send},
    {"Send", call_send, receive_large},
    {"Ssend", call_ssend, receive_large},
    {"Isend, Wait", call_isend, receive_large},
    {"Issend, Wait", call_issend, receive_large},
    {"Rsend", call_rsend, answer_ready},
    {"Irsend, Waitall", call_irsend, answer_ready},
    {"Bsend, Buffer_detach", call_bsend, receive_large},
    {"Ibsend, Buffer_detach", call_ibsend, receive_large},
    {"Probe", call_probe, call_send},
    {"Mprobe, Mrecv", call_mprobe, call_send},
    {"Sendrecv", call_sendrecv, answer_sendrecv},
    {"Sendrecv_replace", call_sendrecv_replace, answer_sendrecv},
    {"Waitall", call_waitall, answer_two},
    {"Waitany", call_waitany, answer_two},
    {"Waitsome", call_waitsome, answer_two},
#if MPI_VERSION >= 4
    {"Isendrecv", call_isendrecv, answer_sendrecv},
    {"Isendrecv_replace", call_isendrecv_replace, answer_sendrecv},
    {"partitioned", call_partitioned_send, answer_partitioned},
#endif
};

int main(int argc, char** argv) {
  start(&argc, &argv, 2);
  fill();
  RUN_CHECKS(checks);
  return finish();
}
