/* SPDX-License-Identifier: Apache-2.0
 *
 * Programs of two ranks that hang, each in one way, for `marline ps`; and two that only look so. Says "ready" when all
 * is as it will stay.
 *
 *   hangs MODE
 *     recv        rank 0 receives what no rank sends
 *     bound       as recv, by a request that is bound to a task
 *     requests    two tasks exchange by MPI_Waitall, and each sends with another tag than the other receives with
 *     persistent  rank 0 waits outside of tasks for a persistent receive
 *     tag         rank 1 sends with another tag than rank 0 receives with
 *     comm        rank 1 sends on another communicator
 *     cycle       two tasks of each rank wait for each other over the ranks
 *     taskwait    a task of rank 0 waits for its child, which hangs
 *     lock        a task hangs and holds a lock that another one wants
 *     collective  rank 1 does not come to the barrier: it receives
 *     helper      as collective, in a call that a helper thread makes: MPI_Comm_dup
 *     blocked     rank 1 blocks in MPI outside of tasks
 *     stuck       MPI itself hangs, in an operation of the program's that it calls
 *     compute     rank 1 computes until it is killed, rank 0 waits for it
 *     sleep       rank 1 sleeps in a task, rank 0 waits for it
 */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include <dlfcn.h>
#include <marline/marline.h>
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int rank;
static long value[4];

__attribute__((noinline)) static void receive(int peer, int tag, MPI_Comm comm, long* into) {
  MPI_Recv(into, 1, MPI_LONG, peer, tag, comm, MPI_STATUS_IGNORE);
  ++*into;
}

__attribute__((noinline)) static void send(int peer, int tag, MPI_Comm comm, const long* from) {
  MPI_Ssend(from, 1, MPI_LONG, peer, tag, comm);
  ++value[3];
}

static void one_receives(void) {
  marline_task_label("receiver");
#pragma omp task
  receive(1 - rank, 7, MPI_COMM_WORLD, &value[0]);
}

static void recv_mode(void) {
  if (rank == 0) one_receives();
}

static void bound_mode(void) {
  if (rank != 0) return;
#pragma omp task
  {
    MPI_Request request;
    int (*iwait)(MPI_Request*, MPI_Status*) = NULL;
    *(void**)&iwait = dlsym(RTLD_DEFAULT, "marline_mpi_iwait");
    MPI_Irecv(&value[0], 1, MPI_LONG, 1, 7, MPI_COMM_WORLD, &request);
    iwait(&request, MPI_STATUS_IGNORE);
  }
}

static void requests_mode(void) {
  marline_task_label("halo");
#pragma omp task
  {
    MPI_Request requests[5] = {MPI_REQUEST_NULL};
    MPI_Irecv(&value[0], 1, MPI_LONG, 1 - rank, 7, MPI_COMM_WORLD, &requests[1]);
    MPI_Issend(&value[1], 1, MPI_LONG, 1 - rank, 8 + rank, MPI_COMM_WORLD, &requests[2]);
    MPI_Irecv(&value[2], 1, MPI_LONG, MPI_PROC_NULL, 7, MPI_COMM_WORLD, &requests[3]); /* as at a border */
    MPI_Isend(&value[1], 1, MPI_LONG, MPI_PROC_NULL, 7, MPI_COMM_WORLD, &requests[4]);
    MPI_Waitall(5, requests, MPI_STATUSES_IGNORE);
  }
}

static void persistent_mode(void) {
  MPI_Request request;
  if (rank != 0) return;
  MPI_Recv_init(&value[0], 2, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &request);
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void tag_mode(void) {
  if (rank == 0) {
    one_receives();
    return;
  }
  marline_task_label("sender");
#pragma omp task
  {
    MPI_Send(&value[1], 1, MPI_LONG, 0, 8, MPI_COMM_WORLD); /* small: it does not wait for the receiver */
    send(0, 9, MPI_COMM_WORLD, &value[1]);
  }
}

static void comm_mode(void) {
  static MPI_Comm other;
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  MPI_Comm_set_name(other, "other");
  if (rank == 0) {
    one_receives();
    return;
  }
#pragma omp task
  send(0, 7, other, &value[1]);
}

static void cycle_mode(void) {
#pragma omp parallel
#pragma omp single
  {
    marline_task_label("taker");
#pragma omp task depend(out : value[0])
    receive(1 - rank, 1, MPI_COMM_WORLD, &value[0]);
    marline_task_label("giver");
#pragma omp task depend(in : value[0])
    send(1 - rank, 1, MPI_COMM_WORLD, &value[0]);
  }
}

static void taskwait_mode(void) {
  if (rank != 0) return;
  marline_task_label("parent");
#pragma omp task untied
  {
    marline_task_label("child");
#pragma omp task
    receive(1, 7, MPI_COMM_WORLD, &value[0]);
    usleep(50000);
#pragma omp taskwait
  }
}

static void lock_mode(void) {
  static omp_lock_t lock;
  if (rank != 0) return;
  omp_init_lock(&lock);
  marline_task_label("holder");
#pragma omp task
  {
    omp_set_lock(&lock);
    receive(1, 7, MPI_COMM_WORLD, &value[0]);
    omp_unset_lock(&lock);
  }
  usleep(50000);
  marline_task_label("wants");
#pragma omp task
  {
    omp_set_lock(&lock);
    omp_unset_lock(&lock);
  }
}

static void collective_mode(void) {
  if (rank == 1) {
    one_receives();
    return;
  }
  marline_task_label("meets");
#pragma omp task
  MPI_Barrier(MPI_COMM_WORLD);
}

static void helper_mode(void) {
  static MPI_Comm copy;
  if (rank == 1) {
    one_receives();
    return;
  }
  marline_task_label("duplicates");
#pragma omp task
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
}

static void never_returns(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)in, (void)inout, (void)count, (void)type;
  for (;;) pause();
}

static int suspensions;

static void note_suspension(void) { __atomic_add_fetch(&suspensions, 1, __ATOMIC_RELAXED); }

/* Rank 1 comes when the task of rank 0 is suspended: the operation is then called by whoever asks MPI for that task. */
static void stuck_mode(void) {
  static MPI_Op op;
  MPI_Op_create(never_returns, 1, &op);
  if (rank == 1) {
    receive(0, 1, MPI_COMM_WORLD, &value[0]);
    MPI_Reduce(&value[0], &value[1], 1, MPI_LONG, op, 0, MPI_COMM_WORLD);
    return;
  }
  marline_suspend_observe(note_suspension);
  marline_task_label("reduces");
#pragma omp task
  MPI_Reduce(&value[0], &value[1], 1, MPI_LONG, op, 0, MPI_COMM_WORLD);
  while (__atomic_load_n(&suspensions, __ATOMIC_RELAXED) == 0) usleep(1000);
  MPI_Send(&value[2], 1, MPI_LONG, 1, 1, MPI_COMM_WORLD);
}

__attribute__((noinline)) static void compute(void) { for (volatile double x = 1; x > 0; x = x / 1.5 + 1); }

static void compute_mode(int by_sleeping) {
  if (rank == 0) {
    one_receives();
    return;
  }
  marline_task_label("worker");
#pragma omp task
  {
    if (by_sleeping) sleep(1000);
    compute();
  }
}

static void run(const char* mode) {
  if (strcmp(mode, "recv") == 0)
    recv_mode();
  else if (strcmp(mode, "bound") == 0)
    bound_mode();
  else if (strcmp(mode, "requests") == 0)
    requests_mode();
  else if (strcmp(mode, "tag") == 0)
    tag_mode();
  else if (strcmp(mode, "comm") == 0)
    comm_mode();
  else if (strcmp(mode, "taskwait") == 0)
    taskwait_mode();
  else if (strcmp(mode, "lock") == 0)
    lock_mode();
  else if (strcmp(mode, "collective") == 0)
    collective_mode();
  else if (strcmp(mode, "helper") == 0)
    helper_mode();
  else if (strcmp(mode, "stuck") == 0)
    stuck_mode();
  else if (strcmp(mode, "compute") == 0 || strcmp(mode, "sleep") == 0)
    compute_mode(strcmp(mode, "sleep") == 0);
}

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "recv";
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  printf("rank %d: pid %d\n", rank, (int)getpid());
  fflush(stdout);
  if (strcmp(mode, "cycle") == 0) cycle_mode();
  if (strcmp(mode, "blocked") == 0 && rank == 1) receive(0, 5, MPI_COMM_WORLD, &value[0]);
  if (strcmp(mode, "persistent") == 0) persistent_mode();
#pragma omp parallel
#pragma omp single
  run(mode);
  if (strcmp(mode, "blocked") == 0) receive(1, 6, MPI_COMM_WORLD, &value[0]);
  MPI_Finalize();
  return 0;
}
