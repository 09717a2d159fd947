/* SPDX-License-Identifier: Apache-2.0
 *
 * Regions with data in memory that is not pinned, under a driver that waits for copies of such memory
 * (MARLINE_EMULATOR_PAGEABLE=wait): the results are right whatever maps the same data at the same time, and with
 * `overlap` regions overlap all the same. Run it with kernels of 20 ms for that.
 *
 *     staging MODE
 */
#include "emulated.h"

#define N (32 << 10) /* ints: 128 KiB, more than a driver copies by itself */
#define REGIONS 24

int global[N];
#pragma omp declare target to(global)

static void overlap(void) {
  int* data = calloc(REGIONS * N, sizeof *data);
#pragma omp target
  {
  }
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < REGIONS; i++) {
    int* part = data + i * N;
#pragma omp target nowait map(tofrom : part[0 : N]) firstprivate(i)
    for (int j = 0; j < N; j++) part[j] += i + j;
  }
  for (int i = 0; i < REGIONS * N; i++) CHECK_EQ(data[i], i / N + i % N);
  const char* runtime = getenv("MARLINE_TEST_RUNTIME");
  if (runtime && strcmp(runtime, "marline") == 0)
    CHECK_RANGE(emulated(kMostKernels), 3, REGIONS); /* 2 at the same time if two threads are held */
  free(data);
}

/* One after the other by dependences, in one buffer: each sees what the last has written. */
static void chain(void) {
  int *data = calloc(N, sizeof *data), *table = malloc(N * sizeof *table);
  for (int j = 0; j < N; j++) table[j] = j;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < REGIONS; i++)
#pragma omp target nowait map(tofrom : data[0 : N]) map(to : table[0 : N]) depend(inout : data[0])
    for (int j = 0; j < N; j++) data[j] += table[j];
  for (int j = 0; j < N; j++) CHECK_EQ(data[j], REGIONS * j);
  free(data);
  free(table);
}

/* Tasks with regions that read the same table and write results of their own. */
static void readers(void) {
  int *table = malloc(N * sizeof *table), *results = calloc(REGIONS * N, sizeof *results);
  for (int j = 0; j < N; j++) table[j] = 3 * j;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < REGIONS; i++) {
#pragma omp task firstprivate(i)
    {
      int* part = results + i * N;
#pragma omp target map(to : table[0 : N]) map(from : part[0 : N])
      for (int j = 0; j < N; j++) part[j] = table[j] + i;
    }
  }
  for (int i = 0; i < REGIONS; i++)
    for (int j = 0; j < N; j++) CHECK_EQ(results[i * N + j], 3 * j + i);
  free(table);
  free(results);
}

/* Data that is mapped already stays on the device; what encloses it brings it back. */
static void mapped(void) {
  int* data = calloc(N, sizeof *data);
#pragma omp parallel
#pragma omp single
  {
#pragma omp target data map(tofrom : data[0 : N])
    {
      for (int i = 0; i < 4; i++)
#pragma omp target map(tofrom : data[0 : N])
        for (int j = 0; j < N; j++) data[j]++;
      CHECK_EQ(data[N - 1], 0); /* not copied back yet */
#pragma omp target update from(data[0 : N / 2])
      CHECK_EQ(data[0], 4);
    }
    CHECK_EQ(data[N - 1], 4);
  }
  free(data);
}

/* Constructs of all kinds on one array, in no order but that of each task: increments must not get lost. Maps of
 * different tasks overlap in time only if they are the same. */
static void mixture(void) {
  int *data = calloc(N, sizeof *data), sum = 0;
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < REGIONS; i++) {
#pragma omp target nowait map(tofrom : data[0 : N]) depend(inout : data[0])
      for (int j = 0; j < N; j++) data[j]++;
#pragma omp task depend(inout : data[0])
      {
#pragma omp target enter data map(to : data[0 : N])
#pragma omp target
        for (int j = 0; j < N; j++) data[j]++;
#pragma omp target exit data map(from : data[0 : N])
        data[0] += 0;
      }
    }
  }
  for (int j = 0; j < N; j++) CHECK_EQ(data[j], 2 * REGIONS);
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
  {
#pragma omp target nowait map(from : sum)
    sum = 7;
  }
  CHECK_EQ(sum, 7);
  free(data);
}

/* A variable of the device's own is no data to be staged, also in the first region. */
static void globals(void) {
#pragma omp parallel
#pragma omp single
  {
    for (int j = 0; j < N; j++) global[j] = j;
#pragma omp target map(tofrom : global)
    for (int j = 0; j < N; j++) global[j] += 1;
    CHECK_EQ(global[5], 5);
#pragma omp target update from(global)
    CHECK_EQ(global[5], 1);
  }
}

/* More than the pool has, in one variable and in all of them. */
static void large(void) {
  enum { kInts = 6 << 20 }; /* 24 MiB */
  int* data[4];
  for (int i = 0; i < 4; i++) data[i] = calloc(kInts, sizeof(int));
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 4; i++) {
    int* part = data[i];
#pragma omp target nowait map(tofrom : part[0 : kInts])
    for (int j = 0; j < kInts; j += 4096) part[j] = j + i;
  }
  for (int i = 0; i < 4; i++) {
    for (int j = 0; j < kInts; j += 4096) CHECK_EQ(data[i][j], j + i);
    free(data[i]);
  }
}

/* While one construct's copy is on its way, the only thread begins the others: judged by the order of things. Run it
 * with one thread and copies that take 30 ms. */
enum { kTasks = 6 };
static int arrays[kTasks][N];

static void enter(int i) {
#pragma omp target enter data map(to : arrays[i])
}
static void update_to(int i) {
#pragma omp target update to(arrays[i])
}
static void update_from(int i) {
#pragma omp target update from(arrays[i])
}
static void leave(int i) {
#pragma omp target exit data map(from : arrays[i])
}

static void run_tasks(void (*construct)(int)) {
  int started = 0, least = kTasks;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < kTasks; i++) {
#pragma omp task firstprivate(i) shared(started, least)
    {
#pragma omp atomic
      started++;
      construct(i);
      int seen;
#pragma omp atomic read
      seen = started;
#pragma omp critical
      if (seen < least) least = seen;
    }
  }
  const char* runtime = getenv("MARLINE_TEST_RUNTIME");
  if (runtime && strcmp(runtime, "marline") == 0) CHECK_EQ(least, kTasks);
}

static void set_all(int factor) {
  for (int i = 0; i < kTasks; i++)
    for (int j = 0; j < N; j++) arrays[i][j] = factor * (i + j);
}

static void check_all(int factor, int more) {
  for (int i = 0; i < kTasks; i++)
    for (int j = 0; j < N; j++) CHECK_EQ(arrays[i][j], factor * (i + j) + more);
}

static void add_one(void) {
  for (int i = 0; i < kTasks; i++) {
    int* part = arrays[i];
#pragma omp target map(tofrom : part[0 : N])
    for (int j = 0; j < N; j++) part[j]++;
  }
}

static void data_constructs(void) {
  set_all(1);
  run_tasks(enter);
  set_all(0);
  add_one();
  run_tasks(update_from);
  check_all(1, 1);
  set_all(3);
  run_tasks(update_to);
  add_one();
  set_all(0);
  run_tasks(leave);
  check_all(3, 1);
}

/* What is not the last one brings nothing back, also inside of a larger piece, and beside deferred constructs. */
static void counts(void) {
  int* data = calloc(2 * N, sizeof *data);
#pragma omp parallel
#pragma omp single
  for (int round = 0; round < 3; round++) {
#pragma omp target enter data map(to : data[0 : 2 * N])
#pragma omp target data map(tofrom : data[0 : 2 * N])
    {
#pragma omp target nowait map(tofrom : data[0 : 2 * N]) depend(inout : data[0])
      for (int j = 0; j < 2 * N; j++) data[j] += 2;
#pragma omp target update from(data[N : N]) depend(in : data[0])
      CHECK_EQ(data[2 * N - 1], 2 * round + 2);
      CHECK_EQ(data[0], 2 * round);
    }
    CHECK_EQ(data[0], 2 * round);
#pragma omp target exit data map(from : data[0 : 2 * N]) nowait depend(inout : data[0])
#pragma omp taskwait
    CHECK_EQ(data[0], 2 * round + 2);
    CHECK(!omp_target_is_present(data, 0));
#pragma omp target data map(alloc : data[0 : N])
    {
    }
  }
  free(data);
}

/* A pointer that is attached inside of what is copied keeps its values on both sides. */
static void attached(void) {
  struct {
    int* part;
    int values[N];
  }* all = calloc(1, sizeof *all);
  int* part = all->part = calloc(N, sizeof(int));
#pragma omp parallel
#pragma omp single
  {
#pragma omp target enter data map(to : all[0 : 1])
#pragma omp target enter data map(to : all->part[0 : N])
#pragma omp target update to(all[0 : 1])
#pragma omp target
    for (int j = 0; j < N; j++) all->values[j] = all->part[j] = j;
#pragma omp target update from(all[0 : 1])
    CHECK(all->part == part && all->values[7] == 7);
#pragma omp target exit data map(from : all->part[0 : N])
#pragma omp target exit data map(from : all[0 : 1])
    CHECK(all->part == part && part[N - 1] == N - 1);
  }
  free(part);
  free(all);
}

int main(int argc, char** argv) {
  CHECK_EQ(argc, 2);
  if (strcmp(argv[1], "overlap") == 0)
    overlap();
  else if (strcmp(argv[1], "globals") == 0)
    globals();
  else if (strcmp(argv[1], "data") == 0)
    data_constructs();
  else {
    counts();
    attached();
    chain();
    readers();
    mapped();
    mixture();
    large();
  }
  return 0;
}
