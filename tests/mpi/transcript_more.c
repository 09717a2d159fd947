/* SPDX-License-Identifier: Apache-2.0
 *
 * Transcript of the calls that came later: Waitsome, Mprobe and Mrecv, Sendrecv_replace, all of them with
 * MPI_PROC_NULL, persistent ones too; and what errors they and the calls that helper threads make give back.
 */
#include "transcript.h"

enum { kRequests = 3 };

static void send_tag(int tag, int count) {
  const int data[4] = {tag, tag + 1, tag + 2, tag + 3};
  let_peer_block();
  MPI_Send(data, count, MPI_INT, 1, tag, MPI_COMM_WORLD);
}

static void await_go(void) { MPI_Recv(NULL, 0, MPI_INT, 1, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }
static void send_go(void) { MPI_Send(NULL, 0, MPI_INT, 0, 99, MPI_COMM_WORLD); }

/* Waitsome: one message at a time, so that its result is determined --------------------------------------------- */

static void waitsome_each(void) {
  if (world_rank == 0) {
    for (int tag = kRequests; tag >= 1; --tag) {
      send_tag(tag, 1);
      await_go();
    }
    return;
  }
  int got[kRequests];
  MPI_Request requests[kRequests];
  for (int i = 0; i < kRequests; ++i)
    MPI_Irecv(&got[i], 1, MPI_INT, i == 1 ? MPI_ANY_SOURCE : 0, i + 1, MPI_COMM_WORLD, &requests[i]);
  for (int round = 0; round <= kRequests; ++round) {
    int count = -1;
    int indices[kRequests] = {-1, -1, -1};
    MPI_Status statuses[kRequests] = {fresh_status(), fresh_status(), fresh_status()};
    const int error = MPI_Waitsome(kRequests, requests, &count, indices, statuses);
    record("Waitsome", error, "count", count);
    if (count != 1) break;
    record_status("Waitsome", error, &statuses[0]);
    record("Waitsome", error, "index", indices[0]);
    record("Waitsome", error, "null", requests[indices[0]] == MPI_REQUEST_NULL);
    send_go();
  }
}

static void waitsome_nothing(void) {
  int count = -1;
  int indices[1] = {-1};
  MPI_Status status = fresh_status();
  MPI_Request request = MPI_REQUEST_NULL;
  record("Waitsome of none", MPI_Waitsome(0, NULL, &count, indices, &status), "count", count);
  record("Waitsome of null", MPI_Waitsome(1, &request, &count, indices, &status), "count", count);
  record("Waitsome ignored", MPI_Waitsome(1, &request, &count, indices, MPI_STATUSES_IGNORE), "count", count);
}

static void waitsome_persistent(void) {
  if (world_rank == 0) {
    send_tag(1, 1);
    await_go();
    send_tag(1, 1);
    return;
  }
  int got = 0;
  int count = -1;
  int index = -1;
  MPI_Request request;
  MPI_Recv_init(&got, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &request);
  for (int round = 0; round < 2; ++round) {
    MPI_Status status = fresh_status();
    MPI_Start(&request);
    record("Waitsome persistent", MPI_Waitsome(1, &request, &count, &index, &status), "count", count);
    record_status("Waitsome persistent", MPI_SUCCESS, &status);
    record("Waitsome inactive", MPI_Waitsome(1, &request, &count, &index, &status), "count", count);
    if (round == 0) send_go();
  }
  MPI_Request_free(&request);
}

/* Matched probes and replacing ------------------------------------------------------------------------------------- */

static void matched(void) {
  if (world_rank == 0) {
    send_tag(5, 3);
    send_tag(6, 0);
    return;
  }
  int got[4] = {-1, -1, -1, -1};
  for (int i = 0; i < 2; ++i) {
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status = fresh_status();
    record_status("Mprobe", MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status), &status);
    status = fresh_status();
    record_status("Mrecv", MPI_Mrecv(got, 4, MPI_INT, &message, &status), &status);
    record("Mrecv", MPI_SUCCESS, "null", message == MPI_MESSAGE_NULL);
    record("Mrecv", MPI_SUCCESS, "last", got[2]);
  }
}

static void replace(void) {
  const int peer = 1 - world_rank;
  int data[4] = {world_rank, world_rank + 10, world_rank + 20, world_rank + 30};
  MPI_Status status = fresh_status();
  if (world_rank == 0) let_peer_block();
  record_status("Sendrecv_replace",
                MPI_Sendrecv_replace(data, 4, MPI_INT, peer, 7, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status),
                &status);
  record("Sendrecv_replace", MPI_SUCCESS, "last", data[3]);
}

/* With MPI_PROC_NULL
 * ------------------------------------------------------------------------------------------------------ */

static void nobody(void) {
  int data = 17;
  MPI_Status status = fresh_status();
  MPI_Message message = MPI_MESSAGE_NULL;
  record_status("Mprobe nobody", MPI_Mprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &message, &status), &status);
  record("Mprobe nobody", MPI_SUCCESS, "no proc", message == MPI_MESSAGE_NO_PROC);
  status = fresh_status();
  record_status("Mrecv nobody", MPI_Mrecv(&data, 1, MPI_INT, &message, &status), &status);
  record("Mrecv nobody", MPI_SUCCESS, "null", message == MPI_MESSAGE_NULL);
  status = fresh_status();
  record_status("Sendrecv_replace nobody",
                MPI_Sendrecv_replace(&data, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_PROC_NULL, 2, MPI_COMM_WORLD, &status),
                &status);
  record("Sendrecv_replace nobody", MPI_SUCCESS, "data", data);
}

/* With MPI_PROC_NULL on one side only. */
static void half_nobody(void) {
  const int peer = 1 - world_rank;
  int data = 100 + world_rank;
  MPI_Status status = fresh_status();
  const int to = world_rank == 0 ? peer : MPI_PROC_NULL;
  const int from = world_rank == 0 ? MPI_PROC_NULL : peer;
  record_status("Sendrecv_replace half",
                MPI_Sendrecv_replace(&data, 1, MPI_INT, to, 3, from, 3, MPI_COMM_WORLD, &status), &status);
  record("Sendrecv_replace half", MPI_SUCCESS, "data", data);
}

/* Errors ----------------------------------------------------------------------------------------------------------- */

static void truncated(void) {
  if (world_rank == 0) {
    send_tag(1, 4);
    send_tag(2, 4);
    return;
  }
  int got[4];
  int count = -1;
  int index = -1;
  MPI_Message message;
  MPI_Status status = fresh_status();
  MPI_Request request;
  MPI_Mprobe(0, 1, MPI_COMM_WORLD, &message, &status);
  record("Mrecv truncated", MPI_Mrecv(got, 2, MPI_INT, &message, &status), "tag", status.MPI_TAG);
  MPI_Irecv(got, 2, MPI_INT, 0, 2, MPI_COMM_WORLD, &request);
  status = fresh_status();
  record("Waitsome truncated", MPI_Waitsome(1, &request, &count, &index, &status), "count", count);
  record("Waitsome truncated", status.MPI_ERROR, "index", index);
}

static void wrong_arguments(void) {
  int data = 0;
  MPI_Status status;
  MPI_Message message;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_File file = MPI_FILE_NULL;
  record("Sendrecv_replace", MPI_Sendrecv_replace(&data, 1, MPI_INT, 77, 1, 77, 1, MPI_COMM_WORLD, &status), "", 0);
  record("Mprobe", MPI_Mprobe(77, 1, MPI_COMM_WORLD, &message, &status), "", 0);
  record("Gather", MPI_Gather(&data, -1, MPI_INT, &data, 1, MPI_INT, 0, MPI_COMM_WORLD), "", 0);
  record("Scan", MPI_Scan(&data, &data, 1, MPI_DATATYPE_NULL, MPI_SUM, MPI_COMM_WORLD), "", 0);
  record("Comm_split", MPI_Comm_split(MPI_COMM_WORLD, -7, 0, &comm), "", 0);
  record("File_open", MPI_File_open(MPI_COMM_SELF, "/no/such/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file), "", 0);
}

int main(int argc, char** argv) {
  static const Step kSteps[] = {{"waitsome_each", waitsome_each},
                                {"waitsome_nothing", waitsome_nothing},
                                {"waitsome_persistent", waitsome_persistent},
                                {"matched", matched},
                                {"replace", replace},
                                {"nobody", nobody},
                                {"half_nobody", half_nobody},
                                {"truncated", truncated},
                                {"wrong_arguments", wrong_arguments}};
  start(&argc, &argv, 2);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  run_steps(kSteps, (int)(sizeof kSteps / sizeof kSteps[0]));
  return finish();
}
