/* SPDX-License-Identifier: Apache-2.0
 *
 * Messages that run far ahead of their receiver. Two ranks; rank 0 sends. Usage: run_ahead HOW
 *
 *   chains      200,000 messages of 500 chains of tasks. The receiver takes the chains in the opposite order: if all
 *               messages were sent before the first is received, each receive would search through most of them
 *               (minutes).
 *   last        The receiver wants the last message of a chain first, then all others from the end: the sender has to
 *               run ahead by the whole chain.
 *   kinds       Messages of all kinds of types and sizes; their statuses and bytes are checked.
 *   unreceived  Messages that are not received, up to MPI_Finalize.
 *   wrong       Sends with wrong arguments: the program's error handler is called once for each.
 *   large       A message of 4 GiB of a derived type, with a size that would be 0 in an int, from each rank to itself.
 *               Two ranks hand it over in some 10^5 parts, and under other load wait for a core at each part (stock
 *               Open MPI: 90 s).
 */
#include <string.h>

#include "support.h"

enum {
  kChains = 500,
  kSteps = 400,
  kDeep = 3000,
  kWidth = 16,
  kKinds = 600,
  kLarge = 20000,
  kBlock = 1 << 20,
  kBlocks = 1 << 12
};

typedef struct Message {
  int chain;
  int step;
  char rest[392];
} Message;

static void pass(Message* message, int step) {
  if (world_rank == 0) {
    message->step = step;
    MPI_Send(message, sizeof *message, MPI_BYTE, 1, message->chain, MPI_COMM_WORLD);
    return;
  }
  const int chain = message->chain;
  MPI_Recv(message, sizeof *message, MPI_BYTE, 0, chain, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  expect(message->chain == chain && message->step == step, "the messages of a chain come in its order");
}

static void chains(void) {
  static Message messages[kChains];
#pragma omp parallel
#pragma omp single
  for (int step = 0; step < kSteps; ++step)
    for (int i = 0; i < kChains; ++i) {
      const int chain = world_rank == 0 ? i : kChains - 1 - i;
      Message* message = &messages[chain];
      if (step == 0) message->chain = chain;
#pragma omp task firstprivate(message, step) depend(inout : message[0])
      pass(message, step);
    }
}

static void last(void) {
  int link = 0;
  if (world_rank == 1) {
    for (int i = kDeep - 1; i >= 0; --i) {
      int got = -1;
      MPI_Recv(&got, 1, MPI_INT, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      expect(got == i, "each message has its own tag");
    }
    return;
  }
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < kDeep; ++i) {
#pragma omp task firstprivate(i) depend(inout : link)
    MPI_Send(&i, 1, MPI_INT, 1, i, MPI_COMM_WORLD);
  }
}

/* A column of a square, integers, nothing, or much. */
static void send_one(int i, MPI_Datatype column) {
  int square[kWidth][kWidth];
  int* many = NULL;
  MPI_Request request;
  switch (i % 4) {
    case 0:
      for (int row = 0; row < kWidth; ++row) square[row][0] = i + row;
      MPI_Isend(square, 1, column, 1, i, MPI_COMM_WORLD, &request);
      break;
    case 1: MPI_Isend(&i, 1, MPI_INT, 1, i, MPI_COMM_WORLD, &request); break;
    case 2: MPI_Isend(NULL, 0, MPI_DOUBLE, 1, i, MPI_COMM_WORLD, &request); break;
    default:
      many = malloc(kLarge * sizeof *many);
      for (int k = 0; k < kLarge; ++k) many[k] = i ^ k;
      MPI_Isend(many, kLarge, MPI_INT, 1, i, MPI_COMM_WORLD, &request);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect(request == MPI_REQUEST_NULL, "the request has ended");
  free(many);
}

static void receive_one(int i, MPI_Datatype column) {
  static const int kCounts[] = {kWidth, 1, 0, kLarge};
  int square[kWidth][kWidth] = {{0}}, count = -1, elements = -1;
  int* many = malloc(kLarge * sizeof *many);
  MPI_Status status;
  MPI_Probe(0, i, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  expect(count == kCounts[i % 4], "MPI_Probe says how much comes");
  if (i % 4 == 0) {
    MPI_Recv(square, 1, column, 0, i, MPI_COMM_WORLD, &status);
    MPI_Get_elements(&status, column, &elements);
    expect(elements == kWidth, "the elements of a derived type");
    for (int row = 0; row < kWidth; ++row) expect(square[row][0] == i + row, "a column");
  } else {
    MPI_Recv(many, kLarge, MPI_INT, 0, i, MPI_COMM_WORLD, &status);
    expect(i % 4 != 1 || many[0] == i, "an integer");
    for (int k = 0; i % 4 == 3 && k < kLarge; ++k) expect(many[k] == (i ^ k), "much");
  }
  MPI_Get_count(&status, MPI_INT, &count);
  expect(count == kCounts[i % 4] && status.MPI_SOURCE == 0 && status.MPI_TAG == i, "the status of a receive");
  free(many);
}

static void kinds(void) {
  MPI_Datatype column;
  MPI_Type_vector(kWidth, 1, kWidth, MPI_INT, &column);
  MPI_Type_commit(&column);
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < kKinds; ++i) {
#pragma omp task firstprivate(i)
    if (world_rank == 0)
      send_one(i, column);
    else
      receive_one(i, column);
  }
  MPI_Type_free(&column);
}

static void unreceived(void) {
  if (world_rank == 1) return;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 10; ++i) {
#pragma omp task firstprivate(i)
    MPI_Send(&i, 1, MPI_INT, 1, i, MPI_COMM_WORLD);
  }
}

static int handled; /* one thread */

static void count(MPI_Comm* comm, int* error, ...) {
  (void)comm;
  (void)error;
  ++handled;
}

static void send_wrong(int count, int dest, int tag) {
  int data = 0;
  MPI_Request request;
  const int before = handled;
  const int error = MPI_Isend(&data, count, MPI_INT, dest, tag, MPI_COMM_WORLD, &request);
  expect(error != MPI_SUCCESS && handled == before + 1, "a wrong send calls the error handler once");
}

static void wrong(void) {
  MPI_Errhandler counting;
  MPI_Comm_create_errhandler(count, &counting);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, counting);
#pragma omp parallel num_threads(1)
#pragma omp single
  for (int i = 0; i < 20; ++i) {
#pragma omp task
    {
      send_wrong(1, world_size, 0);
      send_wrong(-1, 0, 0);
      send_wrong(1, 0, -1);
    }
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Errhandler_free(&counting);
}

/* All blocks of the type are at one address, so that it needs little memory. */
static void large(void) {
  static char sent[kBlock], received[kBlock];
  MPI_Datatype contiguous, in_place;
  MPI_Type_contiguous(kBlock, MPI_CHAR, &contiguous);
  MPI_Type_create_resized(contiguous, 0, 0, &in_place);
  MPI_Type_commit(&in_place);
#pragma omp parallel num_threads(1)
#pragma omp single
  {
    memset(sent, 1, kBlock);
#pragma omp task
    MPI_Send(sent, kBlocks, in_place, world_rank, 0, MPI_COMM_WORLD);
#pragma omp task
    MPI_Recv(received, kBlocks, in_place, world_rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#pragma omp taskwait
    expect(received[0] == 1 && received[kBlock - 1] == 1, "the message has come");
  }
  MPI_Type_free(&in_place);
  MPI_Type_free(&contiguous);
}

int main(int argc, char** argv) {
  start(&argc, &argv, 2);
  expect(argc == 2, "usage: run_ahead HOW");
  if (strcmp(argv[1], "chains") == 0)
    chains();
  else if (strcmp(argv[1], "last") == 0)
    last();
  else if (strcmp(argv[1], "kinds") == 0)
    kinds();
  else if (strcmp(argv[1], "wrong") == 0)
    wrong();
  else if (strcmp(argv[1], "large") == 0)
    large();
  else
    unreceived();
  return finish();
}
