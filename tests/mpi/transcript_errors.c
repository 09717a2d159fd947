/* SPDX-License-Identifier: Apache-2.0
 *
 * Transcript of errors: wrong arguments and truncated messages under MPI_ERRORS_RETURN and under a handler of the
 * program, with the message there already and with the message yet to come. MPI_Waitall: see partial_failure.c.
 */
#include <string.h>

#include "transcript.h"

static int handled;
static int handled_on_world;
static int last_class;
static int buffer[64];

static void count_error(MPI_Comm* comm, int* error, ...) {
  handled += *error != MPI_SUCCESS;
  handled_on_world += *comm == MPI_COMM_WORLD;
  last_class = error_class(*error);
}

static void send_some(MPI_Comm comm, int messages, int ints) {
  for (int tag = 1; tag <= messages; ++tag) {
    let_peer_block();
    MPI_Send(buffer, ints, MPI_INT, 1, tag, comm);
  }
}

static void wrong_arguments(void) {
  const int peer = 1 - world_rank;
  MPI_Status status = fresh_status();
  record("Send to rank 99", MPI_Send(buffer, 1, MPI_INT, 99, 1, MPI_COMM_WORLD), "rank", 99);
  record("Ssend, count -1", MPI_Ssend(buffer, -1, MPI_INT, peer, 1, MPI_COMM_WORLD), "count", -1);
  record("Rsend, tag -5", MPI_Rsend(buffer, 1, MPI_INT, peer, -5, MPI_COMM_WORLD), "tag", -5);
  record("Send, no type", MPI_Send(buffer, 1, MPI_DATATYPE_NULL, peer, 1, MPI_COMM_WORLD), "count", 1);
  record("Recv from rank 99", MPI_Recv(buffer, 1, MPI_INT, 99, 1, MPI_COMM_WORLD, &status), "rank", 99);
  record("Recv, count -1", MPI_Recv(buffer, -1, MPI_INT, peer, 1, MPI_COMM_WORLD, &status), "count", -1);
  record("Probe rank 99", MPI_Probe(99, 1, MPI_COMM_WORLD, &status), "rank", 99);
  record("Bcast from rank 99", MPI_Bcast(buffer, 1, MPI_INT, 99, MPI_COMM_WORLD), "root", 99);
  record("Sendrecv to rank 99",
         MPI_Sendrecv(buffer, 1, MPI_INT, 99, 1, buffer, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, &status), "rank", 99);
}

static void truncated_recv(void) {
  if (world_rank == 0) {
    send_some(MPI_COMM_WORLD, 2, 32);
    return;
  }
  for (int tag = 1; tag <= 2; ++tag) {
    MPI_Status status = fresh_status();
    const int error = MPI_Recv(buffer, 4, MPI_INT, 0, tag, MPI_COMM_WORLD, &status);
    record("Recv truncated", error, "tag", status.MPI_TAG);
    record("Recv truncated", error, "MPI_ERROR untouched", status.MPI_ERROR == kUntouched);
    usleep(20000); /* the second one is there already */
  }
}

static void truncated_wait(void) {
  if (world_rank == 0) {
    send_some(MPI_COMM_WORLD, 1, 32);
    return;
  }
  MPI_Request request;
  MPI_Status status = fresh_status();
  MPI_Irecv(buffer, 4, MPI_INT, 0, 1, MPI_COMM_WORLD, &request);
  const int error = MPI_Wait(&request, &status);
  record("Wait truncated", error, "null", request == MPI_REQUEST_NULL);
  record("Wait truncated", error, "source", status.MPI_SOURCE);
}

static void truncated_waitany(void) {
  if (world_rank == 0) {
    send_some(MPI_COMM_WORLD, 1, 32);
    return;
  }
  int index = -1;
  MPI_Request requests[2] = {MPI_REQUEST_NULL};
  MPI_Status status = fresh_status();
  MPI_Irecv(buffer, 4, MPI_INT, 0, 1, MPI_COMM_WORLD, &requests[1]);
  const int error = MPI_Waitany(2, requests, &index, &status);
  record("Waitany truncated", error, "index", index);
  record("Waitany truncated", error, "null", requests[1] == MPI_REQUEST_NULL);
}

static void truncated_sendrecv(void) {
  const int peer = 1 - world_rank;
  int in[64];
  MPI_Status status = fresh_status();
  if (world_rank == 0) let_peer_block();
  const int error = MPI_Sendrecv(buffer, 32, MPI_INT, peer, 1, in, 4, MPI_INT, peer, 1, MPI_COMM_WORLD, &status);
  record("Sendrecv truncated", error, "source", status.MPI_SOURCE);
}

static void with_handler(MPI_Comm comm, const char* what) {
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(count_error, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  MPI_Errhandler_free(&handler);
  handled = 0;
  handled_on_world = 0;
  MPI_Barrier(comm);
  if (world_rank == 0) {
    send_some(comm, 1, 32);
  } else {
    int error = MPI_Recv(buffer, 4, MPI_INT, 0, 1, comm, MPI_STATUS_IGNORE);
    record(what, error, "handled", handled);
    record(what, error, "class in the handler", last_class);
    error = MPI_Recv(buffer, 4, MPI_INT, 99, 1, comm, MPI_STATUS_IGNORE);
    record(what, error, "handled", handled);
    record(what, error, "class in the handler", last_class);
    record(what, error, "handled on world", handled_on_world);
  }
  MPI_Barrier(comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
}

static void world_handler(void) { with_handler(MPI_COMM_WORLD, "handler of world"); }

/* MPICH 4.0 gives every error at completion to the handler of MPI_COMM_WORLD, also in plain MPI_Wait: nothing between
 * it and the program can tell which communicator it was. */
#ifdef OPEN_MPI
static void own_handler(void) {
  MPI_Comm own;
  MPI_Comm_dup(MPI_COMM_WORLD, &own);
  with_handler(own, "handler of another communicator");
  MPI_Comm_free(&own);
}
#endif

int main(int argc, char** argv) {
  static const Step kSteps[] = {
      {"wrong_arguments", wrong_arguments},
      {"truncated_recv", truncated_recv},
      {"truncated_wait", truncated_wait},
      {"truncated_waitany", truncated_waitany},
      {"truncated_sendrecv", truncated_sendrecv},
      {"world_handler", world_handler},
#ifdef OPEN_MPI
      {"own_handler", own_handler},
#endif
  };
  start(&argc, &argv, 2);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  run_steps(kSteps, (int)(sizeof kSteps / sizeof kSteps[0]));
  return finish();
}
