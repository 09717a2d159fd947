/* SPDX-License-Identifier: Apache-2.0
 *
 * Tasks that send are recognised (MARLINE_PRIORITY=FA), by each of MPI's calls that send: once a task of a construct
 * has called it, the next one of that construct runs before others that are ready. One thread per rank. All become
 * ready together; without priorities the newest runs first, so the sending task is the oldest.
 */
#include <omp.h>

#include "support.h"

enum { kOthers = 5, kRequests = 100 };

static int order[1 + kOthers]; /* 1: the task that sends */
static int count;
static char gate;
static int peer;

/* A function for each call, so each call has a construct of its own, which no other call can have marked as sending. */
#define SENDER(name, call)                               \
  static void create_##name(void) {                      \
    _Pragma("omp task depend(in : gate) shared(gate)") { \
      int value = 1;                                     \
      order[count++] = 1;                                \
      call;                                              \
    }                                                    \
  }
#define TO_PEER &value, 1, MPI_INT, peer, 1, MPI_COMM_WORLD
#define AND_WAIT(nonblocking)              \
  do {                                     \
    MPI_Request request;                   \
    nonblocking(TO_PEER, &request);        \
    MPI_Wait(&request, MPI_STATUS_IGNORE); \
  } while (0)
/* Many requests are made, so that each is found among others. */
#define START(call)                                                         \
  do {                                                                      \
    MPI_Request others[kRequests], request;                                 \
    for (int i = 0; i < kRequests; i++) MPI_Send_init(TO_PEER, &others[i]); \
    MPI_Ssend_init(TO_PEER, &request);                                      \
    for (int i = 0; i < kRequests; i++) MPI_Request_free(&others[i]);       \
    call;                                                                   \
    MPI_Wait(&request, MPI_STATUS_IGNORE);                                  \
    MPI_Request_free(&request);                                             \
  } while (0)

SENDER(send, MPI_Send(TO_PEER))
SENDER(ssend, MPI_Ssend(TO_PEER))
SENDER(bsend, MPI_Bsend(TO_PEER))
SENDER(rsend, MPI_Rsend(TO_PEER))
SENDER(isend, AND_WAIT(MPI_Isend))
SENDER(issend, AND_WAIT(MPI_Issend))
SENDER(ibsend, AND_WAIT(MPI_Ibsend))
SENDER(irsend, AND_WAIT(MPI_Irsend))
SENDER(start, START(MPI_Start(&request)))
SENDER(startall, START(MPI_Startall(1, &request)))
SENDER(sendrecv, MPI_Sendrecv(&value, 1, MPI_INT, peer, 1, &value, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD,
                              MPI_STATUS_IGNORE))

static void run(void (*create_sender)(void), int others) {
  omp_event_handle_t opened;
  int got = 0;
  MPI_Request request;
  MPI_Irecv(&got, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, &request);
  MPI_Barrier(MPI_COMM_WORLD); /* both receives are posted, as a ready send demands */
  count = 0;
#pragma omp parallel num_threads(1)
  {
#pragma omp task detach(opened) depend(out : gate)
    {
    }
    create_sender();
    for (int i = 0; i < others; i++) {
#pragma omp task depend(in : gate)
      order[count++] = 0;
    }
    omp_fulfill_event(opened);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect(got == 1 && count == 1 + others, "the message, and all tasks");
}

static void check(const char* name, void (*create_sender)(void)) {
  printf("rank %d: %s\n", world_rank, name);
  run(create_sender, 0);
  run(create_sender, kOthers);
  expect(order[0] == 1, "the task that sends runs first");
}

int main(int argc, char** argv) {
  static char buffer[4096 + MPI_BSEND_OVERHEAD];
  start(&argc, &argv, 2);
  peer = 1 - world_rank;
  MPI_Buffer_attach(buffer, sizeof buffer);
  check("Send", create_send);
  check("Ssend", create_ssend);
  check("Bsend", create_bsend);
  check("Rsend", create_rsend);
  check("Isend", create_isend);
  check("Issend", create_issend);
  check("Ibsend", create_ibsend);
  check("Irsend", create_irsend);
  check("Start", create_start);
  check("Startall", create_startall);
  check("Sendrecv", create_sendrecv);
  void* address;
  int size;
  MPI_Buffer_detach(&address, &size);
  return finish();
}
