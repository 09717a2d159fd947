/* SPDX-License-Identifier: Apache-2.0
 *
 * The routines that copy and fill device memory, on all devices: while the device works for one task, the only thread
 * runs the others. That is judged by the order of things: run `overlap` with one thread and copies that take 30 ms.
 * LLVM's runtime holds the thread, and only has to deliver the right values.
 *
 *     copies overlap|values
 */
#include "emulated.h"

#define TASKS 8
#define N 20000 /* ints: more than a driver stages by itself */

void* omp_target_memset(void* pointer, int value, size_t bytes, int device);
void* omp_target_memset_async(void* pointer, int value, size_t bytes, int device, int count, omp_depend_t* objects);
int omp_target_memcpy_async(void* to, const void* from, size_t bytes, size_t to_offset, size_t from_offset,
                            int to_device, int from_device, int count, omp_depend_t* objects);

static int host, is_marline;
static int in[TASKS][N], out[TASKS][N];
static int* memory[TASKS];

static int device_of(int task) { return task % omp_get_num_devices(); }

static void to_device(int i) {
  CHECK_EQ(omp_target_memcpy(memory[i], in[i], sizeof in[i], 0, 0, device_of(i), host), 0);
}

static void to_host(int i) {
  CHECK_EQ(omp_target_memcpy(out[i], memory[i], sizeof out[i], 0, 0, host, device_of(i)), 0);
}

/* From another task's memory, which may be another device's. */
static void between(int i) {
  int from = (i + 1) % TASKS;
  CHECK_EQ(
      omp_target_memcpy(memory[i], memory[from], sizeof(int), (N - 1) * sizeof(int), 0, device_of(i), device_of(from)),
      0);
}

/* A quarter of a square, into the middle. */
static void rectangle(int i) {
  size_t volume[2] = {50, 50}, to[2] = {25, 25}, from[2] = {50, 50}, extents[2] = {100, 100};
  CHECK_EQ(
      omp_target_memcpy_rect(out[i], memory[i], sizeof(int), 2, volume, to, from, extents, extents, host, device_of(i)),
      0);
}

static void fill(int i) { CHECK(omp_target_memset(memory[i], i, N * sizeof(int), device_of(i)) == memory[i]); }

/* Each of the tasks that run `work` is there before the first one's operation has ended. With several threads the
 * tasks run at once, so they count with atomics. */
static void run_tasks(void (*work)(int), int judged) {
  int started = 0, least = TASKS;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < TASKS; i++) {
#pragma omp task firstprivate(i) shared(started, least)
    {
#pragma omp atomic
      started++;
      work(i);
      int seen;
#pragma omp atomic read
      seen = started;
#pragma omp critical
      if (seen < least) least = seen;
    }
  }
  CHECK_EQ(started, TASKS);
  if (judged && is_marline) CHECK_EQ(least, TASKS);
}

static void check_rectangle(int i, int first) {
  for (int row = 0; row < 100; row++)
    for (int column = 0; column < 100; column++) {
      int inside = row >= 25 && row < 75 && column >= 25 && column < 75;
      CHECK_EQ(out[i][row * 100 + column], inside ? first + (row + 25) * 100 + column + 25 : 0);
    }
}

static void routines(int judged) {
  for (int i = 0; i < TASKS; i++)
    for (int j = 0; j < N; j++) in[i][j] = 100000 * i + j;
  run_tasks(to_device, judged);
  run_tasks(to_host, judged);
  CHECK(memcmp(in, out, sizeof in) == 0);
  memset(out, 0, sizeof out);
  run_tasks(rectangle, judged);
  for (int i = 0; i < TASKS; i++) check_rectangle(i, 100000 * i);
  run_tasks(between, judged);
  run_tasks(to_host, judged);
  for (int i = 0; i < TASKS; i++) CHECK(out[i][0] == 100000 * i && out[i][N - 1] == 100000 * ((i + 1) % TASKS));
  unsigned long long copies = emulated(kCopiesToDevice);
  run_tasks(fill, judged);
  if (is_marline) CHECK_EQ(emulated(kCopiesToDevice), copies); /* fills are the device's own */
  run_tasks(to_host, judged);
  for (int i = 0; i < TASKS; i++)
    for (int j = 0; j < N; j++) CHECK_EQ(out[i][j], i * 0x01010101);
}

/* Copies that are ordered after a task by a dependence object. The calls return before any of the copies has ended. */
static void deferred(int judged) {
  memset(out, 0, sizeof out);
#pragma omp parallel
#pragma omp single
  {
    omp_depend_t chains[TASKS];
    for (int i = 0; i < TASKS; i++) {
#pragma omp depobj(chains[i]) depend(inout : memory[i])
#pragma omp task depend(out : memory[i]) firstprivate(i)
      in[i][0] = -i;
      CHECK_EQ(omp_target_memcpy_async(memory[i], in[i], sizeof in[i], 0, 0, device_of(i), host, 1, &chains[i]), 0);
      if (is_marline)
        CHECK(omp_target_memset_async(memory[i] + 1, 0x11, sizeof(int), device_of(i), 1, &chains[i]) == memory[i] + 1);
      CHECK_EQ(omp_target_memcpy_async(out[i], memory[i], sizeof out[i], 0, 0, host, device_of(i), 1, &chains[i]), 0);
    }
    for (int i = 0; judged && i < TASKS; i++) CHECK_EQ(((volatile int*)out[i])[5], 0);
#pragma omp taskwait
    for (int i = 0; i < TASKS; i++) {
      CHECK_EQ(out[i][0], -i);
      CHECK_EQ(out[i][1], is_marline ? 0x11111111 : in[i][1]);
      CHECK_EQ(out[i][N - 1], in[i][N - 1]);
#pragma omp depobj(chains[i]) destroy
    }
  }
}

/* Several pieces of staging memory, and a size that no piece divides. */
static void large(void) {
  size_t bytes = (33 << 20) + 12345;
  char *from = malloc(bytes), *to = calloc(bytes, 1);
  for (size_t i = 0; i < bytes; i++) from[i] = (char)(i * 31 + i / 4096);
  char* middle = omp_target_alloc(bytes, 0);
#pragma omp parallel
#pragma omp single
  {
    CHECK_EQ(omp_target_memcpy(middle, from, bytes, 0, 0, 0, host), 0);
    CHECK_EQ(omp_target_memcpy(to, middle, bytes - 7, 7, 7, host, 0), 0);
  }
  CHECK(memcmp(from + 7, to + 7, bytes - 7) == 0 && to[0] == 0);
  memset(to, 0, bytes);
  CHECK_EQ(omp_target_memcpy(to, middle, bytes, 0, 0, host, 0), 0); /* by a thread that cannot suspend */
  CHECK(memcmp(from, to, bytes) == 0);
  omp_target_free(middle, 0);
  free(from);
  free(to);
}

int main(int argc, char** argv) {
  CHECK_EQ(argc, 2);
  host = omp_get_initial_device();
  is_marline = strcmp(getenv("MARLINE_TEST_RUNTIME"), "marline") == 0;
  int judged = strcmp(argv[1], "overlap") == 0;
  for (int i = 0; i < TASKS; i++) memory[i] = omp_target_alloc(N * sizeof(int), device_of(i));
#pragma omp target
  {
  } /* the device starts */
  routines(judged);
  deferred(judged);
  if (!judged) large();
  for (int i = 0; i < TASKS; i++) omp_target_free(memory[i], device_of(i));
  return 0;
}
