/* SPDX-License-Identifier: Apache-2.0
 *
 * Under the shim with MPI_LINK (bench/delay), three ranks on the made-up nodes a, a, b. The link of a and b has 5 ms
 * and 10 MB/s, all others would take minutes. A message between the nodes is there no earlier than latency and bytes
 * say; messages of one direction share the link, whichever rank of the node sends; a node's own messages pass no link.
 * A message holds the time before its send. With an argument: a receive that belongs to no link and so has no time.
 */
#include <string.h>
#include <time.h>

#include "support.h"

enum { kTag = 3, kBytes = 100000, kOnB = 2 };
static const long long kLatency = 5000000;
static const long long kTakes = 10000000; /* kBytes at 10 MB/s, in nanoseconds */

static char buffer[2][kBytes];

static long long now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void send_to(int rank) {
  const long long now = now_ns();
  memcpy(buffer[0], &now, sizeof now);
  MPI_Send(buffer[0], kBytes, MPI_CHAR, rank, kTag, MPI_COMM_WORLD);
}

static long long time_of(const char* message) {
  long long sent;
  memcpy(&sent, message, sizeof sent);
  return sent;
}

static void one_message(int from, int to, long long least) {
  if (world_rank == from) send_to(to);
  if (world_rank != to) return;
  MPI_Recv(buffer[1], kBytes, MPI_CHAR, from, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  expect(now_ns() - time_of(buffer[1]) >= least, "a message takes the link's latency and the time of its bytes");
}

/* From node a to node b; of one rank or of two. */
static void share_a_link(int first, int second) {
  if (world_rank == first) send_to(kOnB);
  if (world_rank == second) send_to(kOnB);
  if (world_rank != kOnB) return;
  MPI_Request requests[2];
  MPI_Irecv(buffer[0], kBytes, MPI_CHAR, first, kTag, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(buffer[1], kBytes, MPI_CHAR, second, kTag, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  const long long one = time_of(buffer[0]), other = time_of(buffer[1]);
  expect(now_ns() - (one < other ? one : other) >= kLatency + 2 * kTakes, "messages of one direction share the link");
}

static void refused(void) {
  MPI_Request request;
  MPI_Irecv(buffer[0], kBytes, MPI_CHAR, MPI_ANY_SOURCE, kTag, MPI_COMM_WORLD, &request);
}

int main(int argc, char** argv) {
  start(&argc, &argv, 3);
  if (argc > 1) refused();
  one_message(0, 2, kLatency + kTakes);
  one_message(2, 1, kLatency + kTakes);
  one_message(0, 1, 0);
  share_a_link(0, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  share_a_link(0, 1);
  return finish();
}
