/* SPDX-License-Identifier: Apache-2.0
 *
 * Waitall, Waitany and Waitsome in a task on many more requests than one look of the engine asks about, null and
 * inactive ones among them: every request is completed once, with its own status. Messages come in a shuffled order,
 * some late.
 */
#include "support.h"

enum { kMany = 1000, kShuffle = 617, kBurst = 50 }; /* kShuffle and kMany have no common factor */

static int in[kMany];
static MPI_Request requests[kMany];
static MPI_Status statuses[kMany];
static int indices[kMany];
static int taken[kMany];

/* Every third place is null, every third of the others holds a persistent request that is never started. */
static int is_null(int i) { return i % 3 == 1; }
static int is_inactive(int i) { return i % 3 == 2 && i % 9 == 2; }

static int post(int with_gaps) {
  int active = 0;
  for (int i = 0; i < kMany; ++i) {
    in[i] = -1;
    taken[i] = 0;
    requests[i] = MPI_REQUEST_NULL;
    if (with_gaps && is_null(i)) continue;
    if (with_gaps && is_inactive(i)) {
      MPI_Recv_init(&in[i], 1, MPI_INT, 0, i, MPI_COMM_WORLD, &requests[i]);
      continue;
    }
    MPI_Irecv(&in[i], 1, MPI_INT, 0, i, MPI_COMM_WORLD, &requests[i]);
    ++active;
  }
  return active;
}

static void take(int i, const MPI_Status* status) {
  expect(i >= 0 && i < kMany && !taken[i], "a request is completed once");
  expect(in[i] == i && status->MPI_TAG == i && status->MPI_SOURCE == 0, "it has its own message and status");
  expect(requests[i] == MPI_REQUEST_NULL, "and is null then");
  taken[i] = 1;
}

static void free_inactive(void) {
  for (int i = 0; i < kMany; ++i) {
    if (requests[i] != MPI_REQUEST_NULL) MPI_Request_free(&requests[i]);
  }
}

static void receive_all(void) {
  post(0);
  expect(MPI_Waitall(kMany, requests, statuses) == MPI_SUCCESS, "Waitall");
  for (int i = 0; i < kMany; ++i) take(i, &statuses[i]);
  post(1);
  expect(MPI_Waitall(kMany, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS, "Waitall without statuses");
  for (int i = 0; i < kMany; ++i)
    expect(in[i] == (is_null(i) || is_inactive(i) ? -1 : i), "the messages of the active requests");
  free_inactive();
}

static void receive_any(void) {
  int index = 0;
  MPI_Status status;
  for (int left = post(1); left > 0; --left) {
    expect(MPI_Waitany(kMany, requests, &index, &status) == MPI_SUCCESS, "Waitany");
    take(index, &status);
  }
  MPI_Waitany(kMany, requests, &index, &status);
  expect(index == MPI_UNDEFINED, "Waitany finds nothing to wait for");
  free_inactive();
}

static void receive_some(void) {
  int found = 0;
  for (int left = post(1); left > 0; left -= found) {
    expect(MPI_Waitsome(kMany, requests, &found, indices, statuses) == MPI_SUCCESS, "Waitsome");
    expect(found > 0 && found <= left, "Waitsome finds some");
    for (int i = 0; i < found; ++i) take(indices[i], &statuses[i]);
  }
  MPI_Waitsome(kMany, requests, &found, indices, statuses);
  expect(found == MPI_UNDEFINED, "Waitsome finds nothing to wait for");
  free_inactive();
}

/* The last part has an error in its middle; the first part is long complete. */
static void receive_too_long(void) {
  for (int i = 0; i < kMany; ++i)
    MPI_Irecv(&in[i], i == kMany - 20 ? 0 : 1, MPI_INT, 0, i, MPI_COMM_WORLD, &requests[i]);
  int class = MPI_SUCCESS;
  MPI_Error_class(MPI_Waitall(kMany, requests, statuses), &class);
  expect(class == MPI_ERR_IN_STATUS, "Waitall says MPI_ERR_IN_STATUS");
  for (int i = 0; i < kMany; ++i) {
    MPI_Error_class(statuses[i].MPI_ERROR, &class);
    if (i == kMany - 20)
      expect(class == MPI_ERR_TRUNCATE, "the status of the request that failed");
    else
      expect(class == (requests[i] == MPI_REQUEST_NULL ? MPI_SUCCESS : MPI_ERR_PENDING), "the status of the others");
  }
  expect(MPI_Waitall(kMany, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS, "Waitall for what was pending");
}

static void send(int with_gaps) {
  for (int n = 0; n < kMany; ++n) {
    const int i = n * kShuffle % kMany;
    if (with_gaps && (is_null(i) || is_inactive(i))) continue;
    if (n % kBurst == 0) let_peer_block();
    MPI_Send(&i, 1, MPI_INT, 1, i, MPI_COMM_WORLD);
  }
}

static void exchange(void (*receive)(void), const int* gaps, int rounds) {
  MPI_Barrier(MPI_COMM_WORLD);
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task firstprivate(receive, gaps, rounds)
    {
      if (world_rank == 1) receive();
      for (int i = 0; world_rank == 0 && i < rounds; ++i) send(gaps[i]);
    }
  }
}

int main(int argc, char** argv) {
  static const int kNoneThenGaps[] = {0, 1};
  start(&argc, &argv, 2);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  exchange(receive_all, kNoneThenGaps, 2);
  exchange(receive_any, kNoneThenGaps + 1, 1);
  exchange(receive_some, kNoneThenGaps + 1, 1);
  exchange(receive_too_long, kNoneThenGaps, 1);
  return finish();
}
