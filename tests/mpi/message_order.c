/* SPDX-License-Identifier: Apache-2.0
 *
 * Messages between two processes with one tag on one communicator do not overtake each other (MPI 3.1, 3.5), however
 * tasks are suspended: ranks 1 and 2 send numbered messages to rank 0. Dependences order the calls, which run on any
 * thread; the waits for them are in tasks of their own, in any order. The runner gives random schedules.
 */
#include "support.h"

enum { kMessages = 120, kSources = 2, kTag = 5, kLarge = 20000 };

static int order; /* of the calls, by dependences */
static int values[kMessages];
static MPI_Request requests[kMessages];

/* Blocking sends, some of which wait for their receive: each begins when the previous one has ended. */
static void send_blocking(int tag_step) {
  for (int i = 0; i < kMessages; ++i) {
#pragma omp task depend(inout : order) firstprivate(i)
    {
      const int value = i;
      if (i % 3 == 0)
        MPI_Ssend(&value, 1, MPI_INT, 0, kTag + i * tag_step, MPI_COMM_WORLD);
      else
        MPI_Send(&value, 1, MPI_INT, 0, kTag + i * tag_step, MPI_COMM_WORLD);
    }
  }
#pragma omp taskwait
}

/* Begun in order, all in flight at once. */
static void send_at_once(void) {
  for (int i = 0; i < kMessages; ++i) {
#pragma omp task depend(inout : order) depend(out : requests[i]) firstprivate(i)
    {
      values[i] = i;
      MPI_Issend(&values[i], 1, MPI_INT, 0, kTag, MPI_COMM_WORLD, &requests[i]);
    }
#pragma omp task depend(in : requests[i]) firstprivate(i)
    MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
  }
#pragma omp taskwait
}

/* Receives that are posted in order from one source, and waited for in any order. */
static void receive_posted(int source, int tag) {
  for (int i = 0; i < kMessages; ++i) {
#pragma omp task depend(inout : order) depend(out : requests[i]) firstprivate(i)
    MPI_Irecv(&values[i], 1, MPI_INT, source, tag, MPI_COMM_WORLD, &requests[i]);
#pragma omp task depend(in : requests[i]) firstprivate(i) untied
    {
      MPI_Status status;
      MPI_Wait(&requests[i], &status);
      expect(values[i] == i, "the receive posted as number i gets message i");
      expect(status.MPI_SOURCE == source, "from its source");
    }
  }
#pragma omp taskwait
}

/* Any source, any tag: the messages of each source come in their order. Suspended one at a time. */
static void receive_any(void) {
  static int next[kSources + 1];
  for (int source = 1; source <= kSources; ++source) next[source] = 0;
  for (int i = 0; i < kSources * kMessages; ++i) {
#pragma omp task depend(inout : order) untied
    {
      int value = -1;
      MPI_Status status;
      MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
      expect(value == next[status.MPI_SOURCE]++, "the messages of a source come in order");
      expect(status.MPI_TAG == kTag + value, "with their tags");
    }
  }
#pragma omp taskwait
}

/* Messages that are taken out in order, and received by other tasks, in any order. */
static void receive_matched(int source) {
  static MPI_Message messages[kMessages];
  for (int i = 0; i < kMessages; ++i) {
#pragma omp task depend(inout : order) depend(out : messages[i]) firstprivate(i) untied
    MPI_Mprobe(source, kTag, MPI_COMM_WORLD, &messages[i], MPI_STATUS_IGNORE);
#pragma omp task depend(in : messages[i]) firstprivate(i) untied
    {
      int value = -1;
      MPI_Mrecv(&value, 1, MPI_INT, &messages[i], MPI_STATUS_IGNORE);
      expect(value == i, "the message taken out as number i is message i");
    }
  }
#pragma omp taskwait
}

/* Short and long messages, which MPI sends in different ways, in one order. */
static void lengths(int source) {
  static int buffers[kMessages][kLarge];
  for (int i = 0; i < kMessages; ++i) {
    const int length = i % 7 == 0 ? kLarge : 1;
#pragma omp task depend(inout : order) depend(out : requests[i]) firstprivate(i, length)
    {
      buffers[i][0] = buffers[i][length - 1] = world_rank == 0 ? -1 : i;
      if (world_rank == 0)
        MPI_Irecv(buffers[i], kLarge, MPI_INT, source, kTag, MPI_COMM_WORLD, &requests[i]);
      else
        MPI_Isend(buffers[i], length, MPI_INT, 0, kTag, MPI_COMM_WORLD, &requests[i]);
    }
#pragma omp task depend(in : requests[i]) firstprivate(i, length) untied
    {
      MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
      expect(buffers[i][0] == i && buffers[i][length - 1] == i, "message i, long or short, is in buffer i");
    }
  }
#pragma omp taskwait
}

static void run(void) {
  if (world_rank > 0) {
    send_blocking(0);
    send_at_once();
    MPI_Barrier(MPI_COMM_WORLD); /* receives of any message get only messages of this part */
    send_blocking(1);
    MPI_Barrier(MPI_COMM_WORLD);
    send_blocking(0);
    lengths(0);
    return;
  }
  for (int source = 1; source <= kSources; ++source) {
    receive_posted(source, kTag);
    receive_posted(source, kTag);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  receive_any();
  MPI_Barrier(MPI_COMM_WORLD);
  for (int source = 1; source <= kSources; ++source) {
    receive_matched(source);
    lengths(source);
  }
}

int main(int argc, char** argv) {
  start(&argc, &argv, 3);
#pragma omp parallel
#pragma omp single
  run();
  return finish();
}
