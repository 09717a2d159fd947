/* SPDX-License-Identifier: Apache-2.0
 *
 * Requests bound to tasks: a task completes when its body has ended and its requests are complete, so successors, waits
 * and barriers find messages and statuses there. Two ranks; every message is received before it is sent, so if the
 * binding secretly waited on the task's thread, the test would hang on one thread. */
#include <omp.h>
#include <string.h>

#include "marline/marline.h"
#include "marline/marline_mpi.h"
#include "support.h"

enum { kMessages = 400, kMany = 10000 };

static int peer;

static void check_status(const MPI_Status* status, int tag) {
  int count = -1;
  MPI_Get_count(status, MPI_INT, &count);
  expect(status->MPI_SOURCE == peer && status->MPI_TAG == tag && count == 1, "a status says which message it was");
  expect(status->MPI_ERROR == MPI_SUCCESS, "a status says that there was no error");
}

/* Sends `count` messages with tags from 0 up in tasks of their own. */
static void send_in_tasks(int* values, int count) {
  for (int i = 0; i < count; ++i) {
#pragma omp task firstprivate(i)
    {
      MPI_Request request;
      values[i] = 100 * world_rank + i;
      MPI_Isend(&values[i], 1, MPI_INT, peer, i, MPI_COMM_WORLD, &request);
      marline_mpi_iwait(&request, MPI_STATUS_IGNORE);
      expect(request == MPI_REQUEST_NULL, "a bound request is null");
    }
  }
}

static void successors_come_after_the_messages(void) {
  static int received[kMessages], sent[kMessages], seen;
  static MPI_Status statuses[kMessages];
  memset(received, -1, sizeof received);
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < kMessages; ++i) {
#pragma omp task depend(out : received[i]) firstprivate(i) untied
      {
        MPI_Request request;
        MPI_Irecv(&received[i], 1, MPI_INT, peer, i, MPI_COMM_WORLD, &request);
        expect(marline_mpi_iwait(&request, &statuses[i]) == MPI_SUCCESS, "binding succeeds");
        expect(request == MPI_REQUEST_NULL, "a bound request is null");
      }
#pragma omp task depend(in : received[i]) firstprivate(i)
      {
        expect(received[i] == 100 * peer + i, "a successor finds the message");
        check_status(&statuses[i], i);
#pragma omp atomic
        ++seen;
      }
    }
    send_in_tasks(sent, kMessages);
  }
  expect(seen == kMessages, "all successors ran");
}

static void one_task_binds_many(void) {
  static int received[kMany], sent[kMany];
  static MPI_Request requests[kMany], sends[kMany];
  static MPI_Status statuses[kMany];
#pragma omp parallel
#pragma omp single
  {
#pragma omp task depend(out : received)
    {
      for (int i = 0; i < kMany; ++i) MPI_Irecv(&received[i], 1, MPI_INT, peer, i, MPI_COMM_WORLD, &requests[i]);
      marline_mpi_iwaitall(kMany, requests, statuses);
    }
#pragma omp task
    {
      for (int i = 0; i < kMany; ++i) {
        sent[i] = 100 * world_rank + i;
        MPI_Isend(&sent[i], 1, MPI_INT, peer, i, MPI_COMM_WORLD, &sends[i]);
      }
      marline_mpi_iwaitall(kMany, sends, MPI_STATUSES_IGNORE);
    }
#pragma omp task depend(in : received)
    for (int i = 0; i < kMany; ++i) {
      expect(received[i] == 100 * peer + i && requests[i] == MPI_REQUEST_NULL, "all of many messages are there");
      check_status(&statuses[i], i);
    }
  }
}

static void receive_bound(int* value, int tag) {
  MPI_Request request;
  *value = -1;
  MPI_Irecv(value, 1, MPI_INT, peer, tag, MPI_COMM_WORLD, &request);
  marline_mpi_iwait(&request, MPI_STATUS_IGNORE);
}

/* taskwait, taskgroup, undeferred and nested tasks, and the barrier for implicit tasks. */
static void everybody_waits(void) {
  static int received[4], sent[4];
#pragma omp parallel
#pragma omp single
  {
    send_in_tasks(sent, 4);
#pragma omp task shared(received)
    receive_bound(&received[0], 0);
#pragma omp taskwait
    expect(received[0] == 100 * peer, "taskwait waits for bound requests");
#pragma omp taskgroup
    {
#pragma omp task shared(received)
      {
#pragma omp task shared(received)
        receive_bound(&received[1], 1);
      }
    }
    expect(received[1] == 100 * peer + 1, "taskgroup waits for bound requests of nested tasks");
#pragma omp task if (0)
    receive_bound(&received[2], 2);
    expect(received[2] == 100 * peer + 2, "an undeferred task is over when its requests are complete");
#pragma omp task final(1)
    {
#pragma omp task
      receive_bound(&received[3], 3);
      expect(received[3] == 100 * peer + 3, "and so is an included one");
    }
  }
}

static void implicit_tasks_and_none(void) {
  static int received[8], sent[8];
  MPI_Request request;
  int threads = omp_get_max_threads() < 4 ? omp_get_max_threads() : 4;
#pragma omp parallel num_threads(threads)
  {
    int me = omp_get_thread_num();
    receive_bound(&received[me], me);
#pragma omp master
    send_in_tasks(sent, threads);
#pragma omp barrier
    expect(received[me] == 100 * peer + me, "the barrier waits for requests bound to implicit tasks");
  }
  int mine = 7 + world_rank, theirs = -1;
  MPI_Isend(&mine, 1, MPI_INT, peer, 9, MPI_COMM_WORLD, &request);
  receive_bound(&theirs, 9);
  expect(theirs == 7 + peer, "outside of tasks, binding waits");
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void null_and_persistent(void) {
  static int received, sent;
  static MPI_Status status;
  MPI_Request persistent;
  MPI_Recv_init(&received, 1, MPI_INT, peer, 3, MPI_COMM_WORLD, &persistent);
#pragma omp parallel
#pragma omp single
  {
#pragma omp task
    {
      MPI_Request none[2] = {MPI_REQUEST_NULL, persistent};
      MPI_Status statuses[2];
      expect(marline_mpi_iwaitall(2, none, statuses) == MPI_SUCCESS, "null and inactive requests are complete");
      expect(statuses[0].MPI_SOURCE == MPI_ANY_SOURCE && statuses[1].MPI_TAG == MPI_ANY_TAG, "with the empty status");
      expect(marline_mpi_iwaitall(0, NULL, MPI_STATUSES_IGNORE) == MPI_SUCCESS, "no request is complete");
    }
#pragma omp taskwait
    for (int i = 0; i < 3; ++i) {
      received = -1;
#pragma omp task depend(out : received)
      {
        MPI_Request copy = persistent;
        MPI_Start(&copy);
        marline_mpi_iwait(&copy, &status);
        expect(copy == MPI_REQUEST_NULL, "the handle of a persistent request is null, too");
      }
#pragma omp task
      {
        sent = 50 + i + world_rank;
        MPI_Send(&sent, 1, MPI_INT, peer, 3, MPI_COMM_WORLD);
      }
#pragma omp taskwait
      expect(received == 50 + i + peer, "a persistent request may be started again");
      check_status(&status, 3);
    }
  }
  MPI_Request_free(&persistent);
}

static void errors_are_in_the_statuses(void) {
  static int small[2], large[2] = {1, 2};
  static MPI_Status statuses[2];
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
#pragma omp parallel
#pragma omp single
  {
#pragma omp task depend(out : small)
    {
      MPI_Request requests[2];
      MPI_Irecv(&small[0], 1, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[0]);
      MPI_Irecv(&small[1], 1, MPI_INT, peer, 1, MPI_COMM_WORLD, &requests[1]);
      marline_mpi_iwaitall(2, requests, statuses);
    }
#pragma omp task
    {
      let_peer_block();
      MPI_Send(large, 2, MPI_INT, peer, 0, MPI_COMM_WORLD);
      MPI_Send(large, 1, MPI_INT, peer, 1, MPI_COMM_WORLD);
    }
#pragma omp task depend(in : small)
    {
      int class = MPI_SUCCESS;
      MPI_Error_class(statuses[0].MPI_ERROR, &class);
      expect(class == MPI_ERR_TRUNCATE, "the status of a failed receive has the error");
      expect(statuses[1].MPI_ERROR == MPI_SUCCESS && small[1] == 1, "the other one has succeeded");
    }
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* Cancelled tasks bind nothing; tasks that run are completed by their requests all the same. */
static void cancelled(void) {
  static int received, sent, ran;
  received = -1;
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskgroup
    {
#pragma omp task depend(inout : received)
      {
        receive_bound(&received, 5);
        marline_taskgroup_cancel_later();
      }
#pragma omp task depend(inout : received)
      ran = 1;
      sent = 5 + world_rank;
      MPI_Send(&sent, 1, MPI_INT, peer, 5, MPI_COMM_WORLD);
    }
    expect(received == 5 + peer, "the request of a task that has cancelled others is complete");
    expect(ran == 0, "its successor was cancelled");
  }
}

static void note(int error, void* arg) {
  expect(error == MPI_SUCCESS, "a callback hears of success");
  __atomic_fetch_add((int*)arg, 1, __ATOMIC_RELEASE);
}

static void callbacks_and_events(void) {
  static int received[kMessages], sent[kMessages], calls, fulfilled;
  static MPI_Status statuses[kMessages];
  memset(received, -1, sizeof received);
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < kMessages; i += 2) {
      MPI_Request requests[2];
      omp_event_handle_t event;
      for (int k = 0; k < 2; ++k) MPI_Irecv(&received[i + k], 1, MPI_INT, peer, i + k, MPI_COMM_WORLD, &requests[k]);
      if (i % 4 == 0) {
        marline_mpi_on_completion(2, requests, &statuses[i], note, &calls);
      } else {
#pragma omp task detach(event) depend(out : received[i])
        ;
#pragma omp task depend(in : received[i]) firstprivate(i)
        {
          expect(received[i] == 100 * peer + i && received[i + 1] == 100 * peer + i + 1, "an event comes after both");
          check_status(&statuses[i + 1], i + 1);
#pragma omp atomic
          ++fulfilled;
        }
        marline_mpi_fulfill(2, requests, &statuses[i], event);
      }
      expect(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL, "requests are handed over");
    }
    send_in_tasks(sent, kMessages);
    while (__atomic_load_n(&calls, __ATOMIC_ACQUIRE) < kMessages / 4) {
#pragma omp taskyield
    }
  }
  expect(calls == kMessages / 4 && fulfilled == kMessages / 4, "everybody was told once");
  for (int i = 0; i < kMessages; ++i) check_status(&statuses[i], i);
}

int main(int argc, char** argv) {
  start(&argc, &argv, 2);
  peer = 1 - world_rank;
  expect(marline_mpi_is_active() == 1, "requests are served in the background");
  successors_come_after_the_messages();
  one_task_binds_many();
  everybody_waits();
  implicit_tasks_and_none();
  null_and_persistent();
  errors_are_in_the_statuses();
  cancelled();
  callbacks_and_events();
  return finish();
}
