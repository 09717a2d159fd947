// SPDX-License-Identifier: Apache-2.0
// Tasks and the buffers of MPI calls, for marline check --dependences: mpi_buffers CASE, on two ranks. Each case ends
// with the same result on any number of threads, by luck in the wrong ones.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kCount = 64, kTag = 7 };

static int rank, other;
static double a[kCount], b[kCount], matrix[8][8];

static void fill(double* x, double value) {
  for (int i = 0; i < kCount; ++i) x[i] = value + i;
}

static double sum(const double* x) {
  double all = 0;
  for (int i = 0; i < kCount; ++i) all += x[i];
  return all;
}

static void send(void) { MPI_Send(a, kCount, MPI_DOUBLE, other, kTag, MPI_COMM_WORLD); }

static void receive(void) { MPI_Recv(b, kCount, MPI_DOUBLE, other, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }

// Tasks that send and receive, in order by their clauses.
static void tasks_right(void) {
#pragma omp task depend(out : a[0])
  fill(a, rank);
#pragma omp task depend(in : a[0])
  send();
#pragma omp task depend(out : b[0])
  receive();
#pragma omp task depend(in : b[0])
  if (sum(b) < 0) abort();
#pragma omp taskwait
}

// The task that receives does not say so.
static void receive_unnamed(void) {
#pragma omp task
  receive();
#pragma omp task depend(in : b[0])
  if (sum(b) < 0) abort();
  fill(a, rank);
  send();
#pragma omp taskwait
}

// The buffer of a send is written again before the send is known to be over.
static void send_reused(void) {
  MPI_Request request;
  fill(a, rank);
  MPI_Isend(a, kCount, MPI_DOUBLE, other, kTag, MPI_COMM_WORLD, &request);
  a[3] = 0;  // here: reused
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  receive();
}

// A task starts a receive and ends; the next one reads what may not have come.
static void receive_read(void) {
  MPI_Request request;
#pragma omp task depend(out : b[0]) shared(request)
  MPI_Irecv(b, kCount, MPI_DOUBLE, other, kTag, MPI_COMM_WORLD, &request);
#pragma omp task depend(in : b[0])
  if (sum(b) < 0) abort();
  fill(a, rank);
  send();
#pragma omp taskwait
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

// Nonblocking calls with waits of each kind.
static void waits_right(void) {
  for (int way = 0; way < 5; ++way) {
    MPI_Request requests[2];
    int done = 0, indices[2], count = 0;
    fill(a, rank + way);
    MPI_Irecv(b, kCount, MPI_DOUBLE, other, kTag, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(a, kCount, MPI_DOUBLE, other, kTag, MPI_COMM_WORLD, &requests[1]);
    if (way == 0) MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; way == 1 && i < 2; ++i) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    for (int i = 0; way == 2 && i < 2; ++i) MPI_Waitany(2, requests, &done, MPI_STATUS_IGNORE);
    while (way == 3 && count < 2) {
      MPI_Waitsome(2, requests, &done, indices, MPI_STATUSES_IGNORE);
      count += done;
    }
    while (way == 4 && !done) MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE);
    if (sum(b) < 0) abort();
    b[0] = 1;
  }
}

// A persistent receive, whose data are read behind the wait or before it.
static void persistent(int is_right) {
  MPI_Request request;
  MPI_Recv_init(b, kCount, MPI_DOUBLE, other, kTag, MPI_COMM_WORLD, &request);
  for (int i = 0; i < 3; ++i) {
    MPI_Start(&request);
    fill(a, rank);
    send();
    if (is_right) MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (sum(b) < 0) abort();
    if (!is_right) MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&request);
}

static void persistent_right(void) { persistent(1); }

static void persistent_early(void) { persistent(0); }

// A task exchanges columns of a matrix while others write those in between.
static void exchange_columns(int width, int first, int last) {
  MPI_Datatype columns;
  MPI_Type_vector(8, width, 8, MPI_DOUBLE, &columns);
  MPI_Type_commit(&columns);
#pragma omp task
  MPI_Sendrecv(matrix[0], 1, columns, other, kTag, &matrix[0][8 - width], 1, columns, other, kTag, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  for (int i = first; i <= last; ++i) {
#pragma omp task firstprivate(i)
    for (int k = 0; k < 8; ++k) matrix[k][i] = k;
  }
#pragma omp taskwait
  MPI_Type_free(&columns);
}

static void columns_right(void) { exchange_columns(1, 1, 6); }

static void columns_overlap(void) { exchange_columns(2, 2, 6); }

// The operands of collective calls.
static void collectives_right(void) {
  double in = rank, out = 0, all[2];
  MPI_Request request;
#pragma omp task depend(inout : out) shared(in, out)
  MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
#pragma omp task depend(in : out) shared(out)
  if (out != 1) abort();
#pragma omp taskwait
  MPI_Iallgather(&in, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (all[1] != 1) abort();
}

// A task reads the result of a reduction that is under way.
static void reduction_read(void) {
  double in = rank;
  MPI_Request request;
  MPI_Iallreduce(&in, a, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
#pragma omp task
  if (a[0] < 0) abort();
#pragma omp taskwait
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

#define CASE(name) {#name, name}
static const struct {
  const char* name;
  void (*code)(void);
} cases[] = {CASE(tasks_right),     CASE(receive_unnamed),   CASE(send_reused),      CASE(receive_read),
             CASE(waits_right),     CASE(persistent_right),  CASE(persistent_early), CASE(columns_right),
             CASE(columns_overlap), CASE(collectives_right), CASE(reduction_read)};

int main(int count, char** arguments) {
  int level;
  MPI_Init_thread(&count, &arguments, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  other = 1 - rank;
#pragma omp parallel
#pragma omp single
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    if (count > 1 && strcmp(cases[i].name, arguments[1]) == 0) cases[i].code();
  }
  MPI_Finalize();
  printf("done\n");
  return 0;
}
