/* SPDX-License-Identifier: Apache-2.0
 *
 * Messages between the memories of two GPUs, in tasks: the program passes pointers to device memory to a GPU-aware MPI.
 * All kernels, sends and receives of a part are ordered by dependences only, and each part posts its receives first, so
 * that a task which waits for a message must not keep its thread. The arguments choose parts; none: all.
 *
 * Covers: target(nowait, depend, is_device_ptr), target data(use_device_addr, use_device_ptr), omp_target_alloc,
 * task(depend)
 */
#include "../support.h"

#include <marline/marline_mpi.h>
#include <omp.h>
#include <string.h>

enum { kBlocks = 12, kItems = 1500 };

static double* device_blocks(int blocks) {
  double* memory = omp_target_alloc((size_t)blocks * kItems * sizeof(double), omp_get_default_device());
  expect(memory != NULL, "the device has memory");
  return memory;
}

static void free_blocks(double* memory) { omp_target_free(memory, omp_get_default_device()); }

/* What rank `from` sends in block `block`. */
static double value(int from, int block, int i) { return from * 1e6 + block * 1e4 + i; }

static void start_fill(double* at, int block) {
  const int rank = world_rank;
#pragma omp target teams distribute parallel for nowait depend(out : at[0]) is_device_ptr(at) firstprivate(rank, block)
  for (int i = 0; i < kItems; ++i) at[i] = rank * 1e6 + block * 1e4 + i;
}

/* A kernel after the arrival. */
static void start_add(double* at, int scale) {
#pragma omp target teams distribute parallel for nowait depend(inout : at[0]) is_device_ptr(at) firstprivate(scale)
  for (int i = 0; i < kItems; ++i) at[i] += scale * i;
}

static void check_block(const double* at, int from, int block, int scale) {
  static double here[kItems];
  omp_target_memcpy(here, (void*)at, sizeof here, 0, 0, omp_get_initial_device(), omp_get_default_device());
  for (int i = 0; i < kItems; ++i) {
    if (here[i] == value(from, block, i) + (double)scale * i) continue;
    fprintf(stderr, "rank %d: block %d, item %d: %.1f\n", world_rank, block, i, here[i]);
    expect(0, "a block holds what the other rank has sent");
  }
}

static void check_blocks(const double* received, int scale) {
  for (int b = 0; b < kBlocks; ++b) check_block(received + b * kItems, 1 - world_rank, b, scale);
}

/* Runs body() as the only creator of tasks. */
static void in_single(void (*body)(double* sent, double* received)) {
  double* sent = device_blocks(kBlocks);
  double* received = device_blocks(kBlocks);
#pragma omp parallel
#pragma omp single
  body(sent, received);
  check_blocks(received, 1);
  free_blocks(sent);
  free_blocks(received);
}

static void blocking(double* sent, double* received) {
  const int peer = 1 - world_rank;
  for (int b = 0; b < kBlocks; ++b) {
    double* at = received + b * kItems;
#pragma omp task depend(out : at[0])
    {
      MPI_Status status;
      int count = 0;
      MPI_Recv(at, kItems, MPI_DOUBLE, peer, b, MPI_COMM_WORLD, &status);
      MPI_Get_count(&status, MPI_DOUBLE, &count);
      expect(count == kItems, "the status says how much has arrived");
    }
    start_add(at, 1);
  }
  for (int b = 0; b < kBlocks; ++b) {
    double* at = sent + b * kItems;
    start_fill(at, b);
#pragma omp task depend(in : at[0])
    MPI_Send(at, kItems, MPI_DOUBLE, peer, b, MPI_COMM_WORLD);
  }
}

/* How a task completes its requests. */
static void complete(int how, int count, MPI_Request* requests) {
  int done = 0, found = 0, flag = 0, indices[kBlocks];
  if (how == 0) MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  for (; how == 1 && done < count; ++done) MPI_Waitany(count, requests, indices, MPI_STATUS_IGNORE);
  for (; how == 2 && done < count; done += found) MPI_Waitsome(count, requests, &found, indices, MPI_STATUSES_IGNORE);
  for (; how == 3 && done < count; ++done) MPI_Wait(&requests[done], MPI_STATUS_IGNORE);
  while (how == 4 && !flag) {
    MPI_Testall(count, requests, &flag, MPI_STATUSES_IGNORE);
    if (!flag) {
#pragma omp taskyield
    }
  }
}

static void nonblocking(double* sent, double* received) {
  const int peer = 1 - world_rank;
  enum { kPerTask = 2, kTasks = kBlocks / kPerTask };
  for (int t = 0; t < kTasks; ++t) {
    double* at = received + t * kPerTask * kItems;
#pragma omp task depend(out : at[0], at[kItems])
    {
      MPI_Request requests[kPerTask];
      for (int i = 0; i < kPerTask; ++i)
        MPI_Irecv(at + i * kItems, kItems, MPI_DOUBLE, peer, t * kPerTask + i, MPI_COMM_WORLD, &requests[i]);
      complete(t % 4, kPerTask, requests);
    }
    for (int i = 0; i < kPerTask; ++i) start_add(at + i * kItems, 1);
  }
  for (int t = 0; t < kTasks; ++t) {
    double* at = sent + t * kPerTask * kItems;
    for (int i = 0; i < kPerTask; ++i) start_fill(at + i * kItems, t * kPerTask + i);
#pragma omp task depend(in : at[0], at[kItems])
    {
      MPI_Request requests[kPerTask];
      for (int i = 0; i < kPerTask; ++i)
        MPI_Isend(at + i * kItems, kItems, MPI_DOUBLE, peer, t * kPerTask + i, MPI_COMM_WORLD, &requests[i]);
      complete((t + 1) % 5, kPerTask, requests);
    }
  }
}

/* The requests end with the task, which does not wait for them itself. */
static void bound(double* sent, double* received) {
  const int peer = 1 - world_rank;
  for (int b = 0; b < kBlocks; ++b) {
    double* at = received + b * kItems;
#pragma omp task depend(out : at[0])
    {
      MPI_Request request;
      MPI_Irecv(at, kItems, MPI_DOUBLE, peer, b, MPI_COMM_WORLD, &request);
      marline_mpi_iwait(&request, MPI_STATUS_IGNORE);
    }
    start_add(at, 1);
  }
  for (int b = 0; b < kBlocks; ++b) {
    double* at = sent + b * kItems;
    start_fill(at, b);
#pragma omp task depend(inout : at[0])
    {
      MPI_Request request;
      MPI_Isend(at, kItems, MPI_DOUBLE, peer, b, MPI_COMM_WORLD, &request);
      marline_mpi_iwait(&request, MPI_STATUS_IGNORE);
    }
  }
}

static void persistent(double* sent, double* received) {
  const int peer = 1 - world_rank;
  static MPI_Request receives[kBlocks], sends[kBlocks];
  for (int b = 0; b < kBlocks; ++b) {
    MPI_Recv_init(received + b * kItems, kItems, MPI_DOUBLE, peer, b, MPI_COMM_WORLD, &receives[b]);
    MPI_Send_init(sent + b * kItems, kItems, MPI_DOUBLE, peer, b, MPI_COMM_WORLD, &sends[b]);
  }
  for (int round = 0; round < 3; ++round) {
    for (int b = 0; b < kBlocks; ++b) {
      double* at = received + b * kItems;
#pragma omp task depend(out : at[0])
      {
        MPI_Start(&receives[b]);
        MPI_Wait(&receives[b], MPI_STATUS_IGNORE);
      }
      start_add(at, 1);
    }
    for (int b = 0; b < kBlocks; ++b) {
      double* at = sent + b * kItems;
      start_fill(at, b);
#pragma omp task depend(inout : at[0])
      {
        MPI_Start(&sends[b]);
        MPI_Wait(&sends[b], MPI_STATUS_IGNORE);
      }
    }
  }
#pragma omp taskwait
  for (int b = 0; b < kBlocks; ++b) {
    MPI_Request_free(&receives[b]);
    MPI_Request_free(&sends[b]);
  }
}

static void sendrecv(double* sent, double* received) {
  const int peer = 1 - world_rank;
  for (int b = 0; b < kBlocks; ++b) {
    double *from = sent + b * kItems, *to = received + b * kItems;
    double* replaced = b % 2 == 0 ? from : to;
    start_fill(b % 2 == 0 ? from : to, b);
#pragma omp task depend(inout : from[0], to[0])
    {
      if (replaced == from)
        MPI_Sendrecv(from, kItems, MPI_DOUBLE, peer, b, to, kItems, MPI_DOUBLE, peer, b, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
      else
        MPI_Sendrecv_replace(to, kItems, MPI_DOUBLE, peer, b, peer, b, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    start_add(to, 1);
  }
}

/* Mapped variables, whose device addresses a region gives. */
static void addresses(void) {
  static double out[kItems], in[kItems], storage[2 * kItems];
  double* pointer = storage;
  const int peer = 1 - world_rank;
  for (int i = 0; i < kItems; ++i) out[i] = value(world_rank, 0, i);
#pragma omp parallel
#pragma omp single
  {
#pragma omp task
    {
#pragma omp target data map(from : in) use_device_addr(in)
      MPI_Recv(in, kItems, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
#pragma omp task
    {
#pragma omp target data map(from : pointer[0 : 2 * kItems])
#pragma omp target data use_device_ptr(pointer)
      MPI_Recv(pointer, 2 * kItems, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
#pragma omp task
    {
#pragma omp target data map(to : out) use_device_addr(out)
      {
        MPI_Send(out, kItems, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD);
        MPI_Send(out, kItems, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD); /* half of what the receive allows */
      }
    }
  }
  for (int i = 0; i < kItems; ++i) {
    expect(in[i] == value(peer, 0, i), "what arrives at a device address is copied back by the map");
    expect(storage[i] == value(peer, 0, i), "the same by use_device_ptr");
  }
}

/* Reductions and a broadcast, outside of tasks and in them. */
static void reduce_in(double* at, double* sum) {
  MPI_Allreduce(at, sum, kItems, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, at, kItems, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Reduce(world_rank == 0 ? MPI_IN_PLACE : at, at, kItems, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Bcast(at, kItems, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

static void check_reduced(const double* at, const double* sum) {
  static double here[2][kItems];
  const int host = omp_get_initial_device(), device = omp_get_default_device();
  omp_target_memcpy(here[0], (void*)sum, sizeof here[0], 0, 0, host, device);
  omp_target_memcpy(here[1], (void*)at, sizeof here[1], 0, 0, host, device);
  for (int i = 0; i < kItems; ++i) {
    const double both = value(0, 3, i) + value(1, 3, i);
    expect(here[0][i] == both, "Allreduce adds what the devices hold");
    expect(here[1][i] == 2 * both, "Allreduce in place, Reduce in place at the root, and Bcast");
  }
}

static void collectives(void) {
  double *at = device_blocks(1), *sum = device_blocks(1), *all = device_blocks(2);
  start_fill(at, 3);
#pragma omp taskwait
  reduce_in(at, sum);
  check_reduced(at, sum);
#pragma omp parallel
#pragma omp single
  {
    start_fill(at, 3);
#pragma omp task depend(inout : at[0])
    reduce_in(at, sum);
#pragma omp task depend(inout : at[0])
    MPI_Allgather(at, kItems, MPI_DOUBLE, all, kItems, MPI_DOUBLE, MPI_COMM_WORLD);
  }
  check_reduced(at, sum);
  check_reduced(all, sum);
  check_reduced(all + kItems, sum);
  free_blocks(at);
  free_blocks(sum);
  free_blocks(all);
}

/* A column of a matrix. Meanwhile a kernel changes the other columns. */
static void columns(void) {
  enum { kRows = 40, kColumns = 9 };
  static double here[kRows][kColumns];
  const int peer = 1 - world_rank, device = omp_get_default_device(), rank = world_rank;
  double(*matrix)[kColumns] = omp_target_alloc(sizeof here, device);
  MPI_Datatype column;
  MPI_Type_vector(kRows, 1, kColumns, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
#pragma omp target teams distribute parallel for is_device_ptr(matrix) firstprivate(rank)
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kColumns; ++j) matrix[i][j] = 1000 * rank + 10 * i + j;
  }
#pragma omp parallel
#pragma omp single
  {
#pragma omp task
    MPI_Recv(&matrix[0][0], 1, column, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#pragma omp task
    {
#pragma omp target is_device_ptr(matrix)
      for (int i = 0; i < kRows; ++i) matrix[i][1] = -1;
      MPI_Barrier(MPI_COMM_WORLD); /* both receives are posted before */
      MPI_Send(&matrix[0][kColumns - 1], 1, column, peer, 0, MPI_COMM_WORLD);
    }
  }
  omp_target_memcpy(here, matrix, sizeof here, 0, 0, omp_get_initial_device(), device);
  for (int i = 0; i < kRows; ++i) {
    expect(here[i][0] == 1000 * peer + 10 * i + kColumns - 1, "the other rank's last column is in the first");
    expect(here[i][1] == -1, "its neighbour is what the kernel has made of it");
    expect(here[i][2] == 1000 * rank + 10 * i + 2, "nothing else changes");
  }
  MPI_Type_free(&column);
  omp_target_free(matrix, device);
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*in_tasks)(double*, double*);
    void (*alone)(void);
  } kParts[] = {{"blocking", blocking, NULL},     {"nonblocking", nonblocking, NULL}, {"bound", bound, NULL},
                {"persistent", persistent, NULL}, {"sendrecv", sendrecv, NULL},       {"addresses", NULL, addresses},
                {"columns", NULL, columns},       {"collectives", NULL, collectives}};
  start(&argc, &argv, 2);
  for (size_t part = 0; part < sizeof kParts / sizeof kParts[0]; ++part) {
    int wanted = argc == 1;
    for (int i = 1; i < argc; ++i) wanted |= strcmp(argv[i], kParts[part].name) == 0;
    if (wanted && kParts[part].in_tasks != NULL) in_single(kParts[part].in_tasks);
    if (wanted && kParts[part].alone != NULL) kParts[part].alone();
  }
  return finish();
}
