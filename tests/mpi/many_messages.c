/* SPDX-License-Identifier: Apache-2.0
 *
 * Many receives are open; messages come one by one, each after the previous one has been answered. Each must be noticed
 * soon, not after the poller has looked at half of the open requests, whatever call the tasks wait in. One rank of one
 * thread sends to itself, so the number of polls does not depend on how fast anything is.
 *
 * Usage: many_messages RECEIVES
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_DEFAULT */
#endif
#include <dlfcn.h>
#include <marline/marline_mpi.h>
#include <string.h>

#include "support.h"

enum { kAnswer = 1 << 20, kMostPolls = 12 }; /* per message, of which there are two each time */

static void (*read_counters)(marline_mpi_counters_t*, size_t);

static uint64_t polls(void) {
  marline_mpi_counters_t now;
  read_counters(&now, sizeof now);
  return now.polls;
}

static void by_recv(int* value, int tag) { MPI_Recv(value, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }

static void by_waitall(int* value, int tag) {
  MPI_Request requests[2] = {MPI_REQUEST_NULL};
  MPI_Irecv(value, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void by_waitany(int* value, int tag) {
  int index;
  MPI_Request requests[2] = {MPI_REQUEST_NULL};
  MPI_Irecv(value, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
}

static void by_waitsome(int* value, int tag) {
  int count, indices[2];
  MPI_Request requests[2] = {MPI_REQUEST_NULL};
  MPI_Irecv(value, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitsome(2, requests, &count, indices, MPI_STATUSES_IGNORE);
}

static void by_probe(int* value, int tag) {
  MPI_Probe(0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  by_recv(value, tag);
}

static void by_mprobe(int* value, int tag) {
  MPI_Message message;
  MPI_Mprobe(0, tag, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
  MPI_Mrecv(value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
}

typedef struct Way {
  const char* name;
  void (*receive)(int* value, int tag);
} Way;

static const Way kWays[] = {{"Recv", by_recv},         {"Waitall", by_waitall}, {"Waitany", by_waitany},
                            {"Waitsome", by_waitsome}, {"Probe", by_probe},     {"Mprobe", by_mprobe}};

static int tag_of(int message, int messages, int backwards) { return backwards ? messages - 1 - message : message; }

static void one_by_one(const Way* way, int messages, int backwards) {
  uint64_t used = 0;
  int answers = 0;
#pragma omp parallel num_threads(1)
#pragma omp single
  {
    for (int i = 0; i < messages; ++i) {
#pragma omp task firstprivate(i, way)
      {
        int value = -1;
        way->receive(&value, i);
        MPI_Send(&value, 1, MPI_INT, 0, kAnswer, MPI_COMM_WORLD);
      }
    }
#pragma omp task shared(used, answers)
    {
      for (int k = 0; k < messages; ++k) {
        const int tag = tag_of(k, messages, backwards);
        int answer = -1;
        used -= k == messages / 10 ? polls() : 0; /* the first messages find the place */
        MPI_Send(&tag, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
        MPI_Recv(&answer, 1, MPI_INT, 0, kAnswer, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        answers += answer == tag;
      }
      used += polls();
    }
  }
  const int counted = messages - messages / 10;
  const char* order = backwards ? "backwards" : "in order";
  printf("%s, %s: %.2f polls per message\n", way->name, order, (double)used / 2 / counted);
  expect(answers == messages, "every message was answered");
  expect(used < 2u * kMostPolls * (unsigned)counted, "messages are noticed soon");
}

int main(int argc, char** argv) {
  start(&argc, &argv, 1);
  expect(argc == 2, "usage: many_messages RECEIVES");
  void* address = dlsym(RTLD_DEFAULT, "marline_mpi_counters_read");
  expect(address != NULL, "marline_mpi_counters_read is there");
  memcpy(&read_counters, &address, sizeof read_counters);
  for (unsigned i = 0; i < sizeof kWays / sizeof kWays[0]; ++i) {
    one_by_one(&kWays[i], atoi(argv[1]), 0);
    one_by_one(&kWays[i], atoi(argv[1]), 1);
  }
  return finish();
}
