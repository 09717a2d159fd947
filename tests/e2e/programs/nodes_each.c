// SPDX-License-Identifier: Apache-2.0
//
// test_nodes_each.py: the ranks are each other's devices.
//
//     all      every rank uses every device at once, and copies from device to device
//     parts    the same, without a question about devices before MPI_Init
//     early    a region before MPI_Init
//     late     rank 0 uses devices, and goes on with them when the other ranks have ended; FILES...: one for each of
//     these never    rank 0 uses its devices for the first time when the others have ended crash    rank 0 has device 1
//     crash busy     rank 0 tells the processes of its device 1 and of rank 1, and waits for the first exit     rank 1
//     exits without MPI_Finalize while the others use its device first    a line to come, then regions, the first ones
//     of the job stay     the number of the process beside rank 0 that starts workers, a line to come, then a region
//     nothing  no device is used
#include <mpi.h>
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kItems = 1 << 18 };

static int rank, size;
static int values[kItems];

static int process_of(int device) {
  int process = 0;
#pragma omp target device(device) map(from : process)
  process = getpid();
  return process;
}

// Each device adds up numbers of the rank's own.
static int compute_everywhere(void) {
  int right = 0;
  long* sums = calloc((size_t)omp_get_num_devices(), sizeof *sums);
  for (int i = 0; i < kItems; ++i) values[i] = i % 100 + rank;
#pragma omp parallel
#pragma omp single
  for (int d = 0; d < omp_get_num_devices(); ++d) {
    long* to = &sums[d];
#pragma omp target device(d) nowait map(to : values) map(tofrom : to[0 : 1])
    {
      long sum = 0;
      for (int i = 0; i < kItems; ++i) sum += values[i] * (d + 1L);
      *to = sum;
    }
  }
  long expected = 0;
  for (int i = 0; i < kItems; ++i) expected += values[i];
  for (int d = 0; d < omp_get_num_devices(); ++d) right += sums[d] == expected * (d + 1);
  free(sums);
  return right;
}

// Round all devices, and back.
static int copy_around(void) {
  size_t bytes = sizeof values;
  int devices = omp_get_num_devices(), wrong = 0;
  void* last = omp_target_alloc(bytes, 0);
  omp_target_memcpy(last, values, bytes, 0, 0, 0, omp_get_initial_device());
  for (int d = 1; d < devices; ++d) {
    void* next = omp_target_alloc(bytes, d);
    wrong += omp_target_memcpy(next, last, bytes, 0, 0, d, d - 1) != 0;
    omp_target_free(last, d - 1);
    last = next;
  }
  memset(values, 0, bytes);
  omp_target_memcpy(values, last, bytes, 0, 0, omp_get_initial_device(), devices - 1);
  for (int i = 0; i < kItems; ++i) wrong += values[i] != i % 100 + rank;
  return wrong;
}

// Each other rank has written its process into its file.
static void wait_for_ends(int count, char** files) {
  for (int i = 0; i < count; ++i) {
    int process = 0;
    FILE* file = fopen(files[i], "r");
    if (file == NULL || fscanf(file, "%d", &process) != 1) abort();
    fclose(file);
    while (kill(process, 0) == 0) usleep(1000);
  }
}

static void write_process(const char* name) {
  FILE* file = fopen(name, "w");
  if (file == NULL || fprintf(file, "%d\n", getpid()) < 0 || fclose(file) != 0) abort();
}

// On rank 0's standard input; all ranks wait.
static void wait_for_line(void) {
  if (rank == 0) (void)getchar();
  MPI_Barrier(MPI_COMM_WORLD);
}

static int run(const char* what) {
  if (strcmp(what, "all") == 0 || strcmp(what, "parts") == 0) {
    int right = compute_everywhere(), wrong = copy_around(), other = process_of(0);
    printf("rank %d right %d wrong %d other %d\n", rank, right, wrong, other != getpid());
  } else if (strcmp(what, "crash") == 0) {
    if (rank == 0) {
#pragma omp target device(1)
      *(volatile int*)0 = 1;
    }
  } else if (strcmp(what, "busy") == 0) {
    int neighbour = getpid();
    MPI_Bcast(&neighbour, 1, MPI_INT, 1, MPI_COMM_WORLD);
    if (rank == 0) {
      printf("%d %d\n", process_of(1), neighbour), fflush(stdout);
#pragma omp target device(1)
      sleep(60);
    }
  } else if (strcmp(what, "exit") == 0) {
    int process = process_of(1 % size);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) exit(process != 0 ? 7 : 1);
    sleep(60);
  } else if (strcmp(what, "stay") == 0) {
    int parent = 0;
#pragma omp target device(0) map(from : parent)
    parent = getppid();
    if (rank == 0) printf("parent %d\n", parent), fflush(stdout);
    wait_for_line();
    int right = compute_everywhere();
    if (rank == 0 && right == size) printf("done\n");
  } else if (strcmp(what, "first") == 0) {
    if (rank == 0) printf("ready\n"), fflush(stdout);
    wait_for_line();
    int right = compute_everywhere();
    if (rank == 0 && right == size) printf("done\n");
  } else if (strcmp(what, "late") == 0) {
    if (rank == 0) (void)process_of(0);
  }
  return 0;
}

int main(int count, char** arguments) {
  const char* what = arguments[1];
  int asks = strcmp(what, "parts") != 0, before = asks ? omp_get_num_devices() : 0, given;
  if (strcmp(what, "early") == 0) (void)process_of(0);
  MPI_Init_thread(&count, &arguments, MPI_THREAD_MULTIPLE, &given);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (asks && (before != size || omp_get_num_devices() != size))
    printf("devices %d %d\n", before, omp_get_num_devices());
  run(what);
  if (rank != 0 && count > 2) write_process(arguments[1 + rank]);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  if (rank == 0 && count > 2) {
    wait_for_ends(count - 2, arguments + 2);
    printf("late %d\n", compute_everywhere());
  }
  return 0;
}
