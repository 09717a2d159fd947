/* SPDX-License-Identifier: Apache-2.0
 *
 * Under the delay shim (bench/delay), two ranks: by whatever call a message is received, it carries the sent data and
 * arrives no earlier than the delay after its send; a message that has been in flight for longer is there at once;
 * collectives take a delay, too. The receives are in tasks, so that the same program runs on Marline. A message holds
 * the time before its send, and a number. The shim promises delays, so the test checks lower bounds on times.
 */
#include <time.h>

#include "support.h"

enum { kTag = 3, kOtherTag = 4, kMessages = 40 };

typedef struct Message {
  long long sent_ns;
  long long number;
} Message;

static long long delay_ns;
static int peer;

static long long now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void send_tagged(long long number, int tag) {
  const Message message = {now_ns(), number};
  MPI_Send(&message, 2, MPI_LONG_LONG, peer, tag, MPI_COMM_WORLD);
}

static void check(const Message* message, long long number) {
  expect(message->number == number, "the message is the one that was sent");
  expect(now_ns() - message->sent_ns >= delay_ns, "a message is there no earlier than the delay after its send");
}

/* One way of receiving each; all leave one message. ---------------------------------------------------------------- */

static void by_recv(Message* m) {
  MPI_Status status;
  MPI_Recv(m, 2, MPI_LONG_LONG, peer, kTag, MPI_COMM_WORLD, &status);
  expect(status.MPI_SOURCE == peer && status.MPI_TAG == kTag, "MPI_Recv tells where the message is from");
}

static void by_recv_from_any(Message* m) {
  MPI_Status status;
  int count = 0;
  MPI_Recv(m, 2, MPI_LONG_LONG, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_LONG_LONG, &count);
  expect(status.MPI_SOURCE == peer && status.MPI_TAG == kTag && count == 2, "a receive from any tells what it got");
}

static MPI_Request posted(Message* m) {
  MPI_Request request;
  MPI_Irecv(m, 2, MPI_LONG_LONG, peer, kTag, MPI_COMM_WORLD, &request);
  return request;
}

static void by_wait(Message* m) {
  MPI_Request request = posted(m);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect(request == MPI_REQUEST_NULL, "MPI_Wait completes the request");
}

static void by_test(Message* m) {
  MPI_Request request = posted(m);
  int flag = 0;
  while (!flag) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  expect(request == MPI_REQUEST_NULL, "MPI_Test completes the request");
}

static void by_testany(Message* m) {
  MPI_Request requests[3] = {MPI_REQUEST_NULL, posted(m), MPI_REQUEST_NULL};
  int index = -1;
  int flag = 0;
  while (!flag) MPI_Testany(3, requests, &index, &flag, MPI_STATUS_IGNORE);
  expect(index == 1 && requests[1] == MPI_REQUEST_NULL, "MPI_Testany completes the receive");
}

static void by_testsome(Message* m) {
  MPI_Request requests[2] = {MPI_REQUEST_NULL, posted(m)};
  MPI_Status statuses[2];
  int indices[2];
  int found = 0;
  while (found == 0) MPI_Testsome(2, requests, &found, indices, statuses);
  expect(found == 1 && indices[0] == 1 && statuses[0].MPI_TAG == kTag, "MPI_Testsome completes the receive");
}

static void by_testall(Message* m) {
  MPI_Request requests[2] = {MPI_REQUEST_NULL, posted(m)};
  int flag = 0;
  while (!flag) MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
}

static void by_waitany(Message* m) {
  MPI_Request requests[2] = {posted(m), MPI_REQUEST_NULL};
  int index = -1;
  MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
  expect(index == 0, "MPI_Waitany completes the receive");
}

static void by_waitsome(Message* m) {
  MPI_Request requests[2] = {posted(m), MPI_REQUEST_NULL};
  int indices[2];
  int found = 0;
  MPI_Waitsome(2, requests, &found, indices, MPI_STATUSES_IGNORE);
  expect(found == 1 && indices[0] == 0, "MPI_Waitsome completes the receive");
}

static void by_waitall(Message* m) {
  MPI_Request requests[2] = {MPI_REQUEST_NULL, posted(m)};
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void by_mrecv(Message* m) {
  MPI_Message handle;
  MPI_Mprobe(peer, kTag, MPI_COMM_WORLD, &handle, MPI_STATUS_IGNORE);
  MPI_Mrecv(m, 2, MPI_LONG_LONG, &handle, MPI_STATUS_IGNORE);
}

static void by_persistent(Message* m) {
  MPI_Request request;
  MPI_Recv_init(m, 2, MPI_LONG_LONG, peer, kTag, MPI_COMM_WORLD, &request);
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect(request != MPI_REQUEST_NULL, "a persistent request stays");
  MPI_Request_free(&request);
}

/* First the calls for messages with a known place in their sequence: after a receive from any source the shim does
 * not know the places any more. */
static void (*const kWays[])(Message*) = {by_recv,     by_wait,          by_test,    by_testany,
                                          by_testsome, by_testall,       by_waitany, by_waitsome,
                                          by_waitall,  by_recv_from_any, by_mrecv,   by_persistent};

static void receive_in_task(void (*receive)(Message*), long long number) {
  Message message;
#pragma omp parallel
#pragma omp single
#pragma omp task shared(message)
  receive(&message);
  check(&message, number);
}

static void ping_pong(void (*receive)(Message*), long long number) {
  const long long start = now_ns();
  if (world_rank == 0) send_tagged(number, kTag);
  receive_in_task(receive, number);
  if (world_rank == 1)
    send_tagged(number, kTag);
  else
    expect(now_ns() - start >= 2 * delay_ns, "a round trip takes two delays");
}

/* The message's time has come before its receive is posted. */
static void late_receive(void) {
  if (world_rank == 0) {
    send_tagged(1, kOtherTag);
    return;
  }
  MPI_Probe(peer, kOtherTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  usleep((useconds_t)(delay_ns / 1000 + 1000));
  Message message;
  MPI_Request request;
  int flag = 0;
  MPI_Irecv(&message, 2, MPI_LONG_LONG, peer, kOtherTag, MPI_COMM_WORLD, &request);
  MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  expect(flag, "a message that has been under way for longer than the delay is there at once");
  check(&message, 1);
}

/* Many at a time, received in another order than sent. */
static void many(void) {
  Message messages[kMessages];
  MPI_Request requests[kMessages];
  for (int i = 0; i < kMessages; ++i)
    MPI_Irecv(&messages[i], 2, MPI_LONG_LONG, peer, i % 2 ? kTag : kOtherTag, MPI_COMM_WORLD, &requests[i]);
  for (int i = 0; i < kMessages; ++i) send_tagged(i, i % 2 ? kTag : kOtherTag);
  for (int i = kMessages - 1; i >= 0; i -= 2) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
  MPI_Waitall(kMessages, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < kMessages; ++i) check(&messages[i], i);
}

static void exchange(void) {
  Message mine = {now_ns(), world_rank};
  Message theirs;
  MPI_Sendrecv(&mine, 2, MPI_LONG_LONG, peer, kTag, &theirs, 2, MPI_LONG_LONG, peer, kTag, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  check(&theirs, peer);
  mine.sent_ns = now_ns();
  MPI_Sendrecv_replace(&mine, 2, MPI_LONG_LONG, peer, kTag, peer, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  check(&mine, peer);
}

/* Switched off, a message does not wait for its time; the number of the next one is still right. */
static void switched_off(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Pcontrol(0);
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank == 0) {
    send_tagged(1, kOtherTag);
  } else {
    Message message;
    MPI_Request request;
    int flag = 0;
    MPI_Probe(peer, kOtherTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Irecv(&message, 2, MPI_LONG_LONG, peer, kOtherTag, MPI_COMM_WORLD, &request);
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    expect(flag && message.number == 1, "after MPI_Pcontrol(0) a message that is there is received at once");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Pcontrol(1);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void collectives(void) {
  long long start = now_ns();
  int sum = world_rank + 1;
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  expect(sum == 3, "MPI_Allreduce is right");
  expect(now_ns() - start >= delay_ns, "MPI_Allreduce takes a delay");
  start = now_ns();
  MPI_Request request;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect(now_ns() - start >= delay_ns, "MPI_Ibarrier takes a delay");
}

/* A communicator that the program has made, and one that the shim does not know. */
static void other_communicators(void) {
  MPI_Comm dup, idup;
  MPI_Request request;
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  MPI_Comm_idup(dup, &idup, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < 2; ++i) {
    const Message mine = {now_ns(), i};
    Message theirs;
    MPI_Sendrecv(&mine, 2, MPI_LONG_LONG, peer, kTag, &theirs, 2, MPI_LONG_LONG, peer, kTag, i ? idup : dup,
                 MPI_STATUS_IGNORE);
    check(&theirs, i);
  }
  MPI_Comm_free(&idup);
  MPI_Comm_free(&dup);
}

int main(int argc, char** argv) {
  const char* delay = getenv("MPI_DELAY_US");
  start(&argc, &argv, 2);
  expect(delay != NULL, "the test runs with MPI_DELAY_US");
  delay_ns = 1000 * atoll(delay);
  peer = 1 - world_rank;
  late_receive();
  switched_off();
  late_receive();
  many();
  exchange();
  other_communicators();
  collectives();
  for (size_t i = 0; i < sizeof kWays / sizeof kWays[0]; ++i) ping_pong(kWays[i], (long long)i);
  return finish();
}
