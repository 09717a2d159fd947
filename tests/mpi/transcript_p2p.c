/* SPDX-License-Identifier: Apache-2.0
 *
 * Transcript of the point-to-point calls: sends in all modes, receives with wildcards, short messages, MPI_PROC_NULL,
 * Sendrecv and Probe, each with the message there already and with the message yet to come.
 */
#include <string.h>

#include "transcript.h"

enum { kInts = 1000, kLargeInts = 1 << 17 };

static int buffer[kInts];
static int* large;

static void receive_and_record(const char* what, int source, int tag, int room) {
  MPI_Status status = fresh_status();
  memset(buffer, 0, sizeof buffer);
  const int error = MPI_Recv(buffer, room, MPI_INT, source, tag, MPI_COMM_WORLD, &status);
  record_status(what, error, &status);
  record(what, error, "first int", buffer[0]);
}

static void send_modes(void) {
  if (world_rank == 1) {
    for (int mode = 0; mode < 3; ++mode) receive_and_record("Recv", 0, mode, kInts);
    return;
  }
  static char attached[1 << 16];
  int* room = NULL;
  int size = 0;
  for (int i = 0; i < 100; ++i) buffer[i] = 100 + i;
  let_peer_block();
  record("Send", MPI_Send(buffer, 100, MPI_INT, 1, 0, MPI_COMM_WORLD), "sent", 100);
  record("Ssend", MPI_Ssend(buffer, 50, MPI_INT, 1, 1, MPI_COMM_WORLD), "sent", 50);
  MPI_Buffer_attach(attached, sizeof attached);
  record("Bsend", MPI_Bsend(buffer, 25, MPI_INT, 1, 2, MPI_COMM_WORLD), "sent", 25);
  MPI_Buffer_detach(&room, &size);
  record("Buffer_detach", MPI_SUCCESS, "bytes", size);
}

static void ready_send(void) {
  if (world_rank == 1) {
    MPI_Request request;
    MPI_Status status = fresh_status();
    MPI_Irecv(buffer, kInts, MPI_INT, 0, 4, MPI_COMM_WORLD, &request);
    MPI_Send(buffer, 0, MPI_INT, 0, 3, MPI_COMM_WORLD);
    const int error = MPI_Wait(&request, &status);
    record_status("Wait", error, &status);
    record("Wait", error, "null", request == MPI_REQUEST_NULL);
  } else {
    receive_and_record("Recv", 1, 3, kInts);
    record("Rsend", MPI_Rsend(buffer, 10, MPI_INT, 1, 4, MPI_COMM_WORLD), "sent", 10);
  }
}

static void large_messages(void) {
  const int peer = 1 - world_rank;
  for (int turn = 0; turn < 2; ++turn) {
    MPI_Status status = fresh_status();
    if (turn == world_rank) {
      let_peer_block();
      memset(large, world_rank + 1, kLargeInts * sizeof *large);
      record("Send", MPI_Send(large, kLargeInts, MPI_INT, peer, turn, MPI_COMM_WORLD), "large", kLargeInts);
    } else {
      const int error = MPI_Recv(large, kLargeInts, MPI_INT, peer, turn, MPI_COMM_WORLD, &status);
      record_status("Recv", error, &status);
      record("Recv", error, "last int", large[kLargeInts - 1]);
    }
  }
}

static void wildcards(void) {
  if (world_rank == 0) {
    let_peer_block();
    MPI_Send(buffer, 7, MPI_INT, 1, 42, MPI_COMM_WORLD);
    MPI_Send(buffer, 0, MPI_INT, 1, 43, MPI_COMM_WORLD);
  } else {
    receive_and_record("Recv any", MPI_ANY_SOURCE, MPI_ANY_TAG, kInts);
    let_peer_block();
    receive_and_record("Recv any, there already", MPI_ANY_SOURCE, MPI_ANY_TAG, kInts);
  }
}

static void no_peer(void) {
  MPI_Status status = fresh_status();
  receive_and_record("Recv from nobody", MPI_PROC_NULL, 5, kInts);
  record("Send to nobody", MPI_Send(buffer, 5, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD), "sent", 5);
  record("Ssend to nobody", MPI_Ssend(buffer, 5, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD), "sent", 5);
  record("Rsend to nobody", MPI_Rsend(buffer, 5, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD), "sent", 5);
  int error = MPI_Probe(MPI_PROC_NULL, 5, MPI_COMM_WORLD, &status);
  record_status("Probe nobody", error, &status);
  status = fresh_status();
  error = MPI_Sendrecv(buffer, 5, MPI_INT, MPI_PROC_NULL, 5, buffer + 5, 5, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD,
                       &status);
  record_status("Sendrecv with nobody", error, &status);
}

static void exchange(void) {
  const int peer = 1 - world_rank;
  MPI_Status status = fresh_status();
  int out[8] = {world_rank};
  int in[8] = {-1};
  if (world_rank == 0) let_peer_block();
  int error =
      MPI_Sendrecv(out, 4 + world_rank, MPI_INT, peer, world_rank, in, 8, MPI_INT, peer, peer, MPI_COMM_WORLD, &status);
  record_status("Sendrecv", error, &status);
  record("Sendrecv", error, "first int", in[0]);
  error = MPI_Sendrecv(out, 1, MPI_INT, peer, 9, in, 8, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE);
  record("Sendrecv, no status", error, "first int", in[0]);
}

static void probing(void) {
  if (world_rank == 0) {
    let_peer_block();
    MPI_Send(buffer, 11, MPI_INT, 1, 21, MPI_COMM_WORLD);
    MPI_Send(buffer, 12, MPI_INT, 1, 22, MPI_COMM_WORLD);
    return;
  }
  MPI_Status status = fresh_status();
  int error = MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
  record_status("Probe any", error, &status);
  receive_and_record("Recv probed", 0, 21, kInts);
  error = MPI_Probe(0, 22, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  record("Probe, no status", error, "tag", 22);
  receive_and_record("Recv probed", 0, 22, kInts);
}

static void late_collectives(void) {
  int value = world_rank == 0 ? 77 : 0;
  int sum = -1;
  if (world_rank == 0) let_peer_block();
  record("Barrier", MPI_Barrier(MPI_COMM_WORLD), "rank", world_rank);
  int error = MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
  record("Bcast", error, "value", value);
  error = MPI_Reduce(&value, &sum, 1, MPI_INT, MPI_SUM, 1, MPI_COMM_WORLD);
  record("Reduce", error, "sum", sum);
  error = MPI_Allreduce(&world_rank, &sum, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  record("Allreduce", error, "max", sum);
}

int main(int argc, char** argv) {
  static const Step kSteps[] = {{"send_modes", send_modes},
                                {"ready_send", ready_send},
                                {"large_messages", large_messages},
                                {"wildcards", wildcards},
                                {"no_peer", no_peer},
                                {"exchange", exchange},
                                {"probing", probing},
                                {"late_collectives", late_collectives}};
  start(&argc, &argv, 2);
  large = malloc(kLargeInts * sizeof *large);
  run_steps(kSteps, (int)(sizeof kSteps / sizeof kSteps[0]));
  free(large);
  return finish();
}
