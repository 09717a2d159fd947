/* SPDX-License-Identifier: Apache-2.0
 *
 * Doacross loops: ordered(n) with sinks and sources. Each iteration computes with what the iterations that it waits for
 * have left, and now and then an iteration is late, so that a wait that does not wait shows as a wrong value.
 * HAVE_DOACROSS: the syntax of OpenMP 5.2.
 *
 * Covers: for(ordered, schedule:static/dynamic), ordered(depend:source/sink)
 * Covers (clang19): ordered(doacross:source/sink)
 */
#include "../check.h"
#include <omp.h>
#include <stdint.h>

#ifdef HAVE_DOACROSS
#define SINK(...) doacross(sink : __VA_ARGS__)
#define SOURCE doacross(source:)
#else
#define SINK(...) depend(sink : __VA_ARGS__)
#define SOURCE depend(source)
#endif
#define PRAGMA(...) _Pragma(#__VA_ARGS__)
#define ORDERED(...) PRAGMA(omp ordered __VA_ARGS__)

enum { kLine = 200, kRows = 16, kColumns = 24, kDeep = 7, kChain = 40 };

/* Late in one of 64 iterations. */
static void lag(int i, int j) {
  if ((uint32_t)(i * 2654435761u + j * 40503u) >> 26 == 0) usleep(1);
}

static uint64_t mixed(uint64_t a, uint64_t b, uint64_t c, int i) { return (a * 3 + b * 5 + c * 7) ^ (uint64_t)i; }

/* One dimension: the neighbour, and one that is further away. */
static uint64_t line[kLine], line_serial[kLine];

static uint64_t line_at(const uint64_t* x, int i) { return mixed(i >= 1 ? x[i - 1] : 1, i >= 7 ? x[i - 7] : 1, 0, i); }

#define LINE(...)                                       \
  do {                                                  \
    memset(line, 0, sizeof line);                       \
    PRAGMA(omp parallel) {                              \
      PRAGMA(omp for ordered(1) __VA_ARGS__)            \
      for (int i = 0; i < kLine; i++) {                 \
        lag(i, 0);                                      \
        ORDERED(SINK(i - 1) SINK(i - 7))                \
        line[i] = line_at(line, i);                     \
        ORDERED(SOURCE)                                 \
      }                                                 \
    }                                                   \
    CHECK(memcmp(line, line_serial, sizeof line) == 0); \
  } while (0)

/* Two dimensions; the corner is waited for by way of the neighbours. */
static uint64_t plane[kRows][kColumns], plane_serial[kRows][kColumns];

static uint64_t plane_at(uint64_t (*x)[kColumns], int i, int j) {
  return mixed(i > 0 ? x[i - 1][j] : 1, j > 0 ? x[i][j - 1] : 1, i > 0 && j > 0 ? x[i - 1][j - 1] : 1, i + j);
}

#define PLANE(...)                                         \
  do {                                                     \
    memset(plane, 0, sizeof plane);                        \
    PRAGMA(omp parallel for ordered(2) __VA_ARGS__)        \
    for (int i = 0; i < kRows; i++)                        \
      for (int j = 0; j < kColumns; j++) {                 \
        lag(i, j);                                         \
        ORDERED(SINK(i - 1, j) SINK(i, j - 1))             \
        plane[i][j] = plane_at(plane, i, j);               \
        ORDERED(SOURCE)                                    \
      }                                                    \
    CHECK(memcmp(plane, plane_serial, sizeof plane) == 0); \
  } while (0)

static uint64_t cube[kDeep][kDeep][kDeep], cube_serial[kDeep][kDeep][kDeep];

static uint64_t cube_at(uint64_t (*x)[kDeep][kDeep], int i, int j, int k) {
  return mixed(i > 0 ? x[i - 1][j][k] : 1, j > 0 ? x[i][j - 1][k] : 1, k > 0 ? x[i][j][k - 1] : 1, i + j + k);
}

#define CUBE(...)                                                        \
  do {                                                                   \
    memset(cube, 0, sizeof cube);                                        \
    PRAGMA(omp parallel for ordered(3) __VA_ARGS__)                      \
    for (int i = 0; i < kDeep; i++)                                      \
      for (int j = 0; j < kDeep; j++)                                    \
        for (int k = 0; k < kDeep; k++) {                                \
          lag(i* kDeep + j, k);                                          \
          ORDERED(SINK(i - 1, j, k) SINK(i, j - 1, k) SINK(i, j, k - 1)) \
          cube[i][j][k] = cube_at(cube, i, j, k);                        \
          ORDERED(SOURCE)                                                \
        }                                                                \
    CHECK(memcmp(cube, cube_serial, sizeof cube) == 0);                  \
  } while (0)

#define ALL(...)                    \
  do {                              \
    LINE(__VA_ARGS__);              \
    PLANE(__VA_ARGS__);             \
    CUBE(__VA_ARGS__);              \
    PLANE(collapse(2) __VA_ARGS__); \
    CUBE(collapse(2) __VA_ARGS__);  \
  } while (0)

static void serial_results(void) {
  for (int i = 0; i < kLine; i++) line_serial[i] = line_at(line_serial, i);
  for (int i = 0; i < kRows; i++)
    for (int j = 0; j < kColumns; j++) plane_serial[i][j] = plane_at(plane_serial, i, j);
  for (int i = 0; i < kDeep; i++)
    for (int j = 0; j < kDeep; j++)
      for (int k = 0; k < kDeep; k++) cube_serial[i][j][k] = cube_at(cube_serial, i, j, k);
}

static void schedules(void) {
  ALL();
  ALL(schedule(static));
  ALL(schedule(static, 1));
  ALL(schedule(static, 3));
  ALL(schedule(dynamic));
  ALL(schedule(dynamic, 4));
  ALL(schedule(monotonic : dynamic, 1000));
  ALL(schedule(guided));
  ALL(schedule(guided, 5));
  ALL(schedule(auto));
  omp_sched_t kinds[] = {omp_sched_static, omp_sched_dynamic, omp_sched_guided};
  for (int k = 0; k < 3; k++) {
    omp_set_schedule(kinds[k], k);
    ALL(schedule(runtime));
  }
}

/* A source in the middle of an iteration: who waited for it need not wait for the iteration's end. */
static void post_before_the_end(void) {
  static int seen;
  seen = 0;
#pragma omp parallel num_threads(2)
  if (omp_get_num_threads() == 2) {
#pragma omp for ordered(1) schedule(static, 1)
    for (int i = 0; i < 2; i++) {
      ORDERED(SINK(i - 1))
      if (i == 1) {
#pragma omp atomic write
        seen = 1;
      }
      ORDERED(SOURCE)
      for (int s = 0; i == 0 && !s; usleep(1)) {
#pragma omp atomic read
        s = seen;
      }
    }
  }
}

/* Loops without a barrier, more of them than any runtime has descriptors; each thread is late in turn. */
static uint64_t chain[kChain][kLine];

static void chains(void) {
  memset(chain, 0, sizeof chain);
#pragma omp parallel
  for (int step = 0; step < kChain; step++) {
    if (step % 10 == 0 && step / 10 % omp_get_num_threads() == omp_get_thread_num()) usleep(300);
#define STEP(...)                               \
  PRAGMA(omp for ordered(1) nowait __VA_ARGS__) \
  for (int i = 0; i < kLine; i++) {             \
    ORDERED(SINK(i - 1) SINK(i - 7))            \
    chain[step][i] = line_at(chain[step], i);   \
    ORDERED(SOURCE)                             \
  }
    switch (step % 3) {
      case 0: STEP(schedule(static)) break;
      case 1: STEP(schedule(dynamic, 3)) break;
      default: STEP(schedule(static, 8))
    }
  }
  for (int step = 0; step < kChain; step++) CHECK(memcmp(chain[step], line_serial, sizeof line_serial) == 0);
}

/* In the inner regions of several threads at once, and in a loop that no region is around. */
static void nested(void) {
  int wrong = 0;
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(3) reduction(+ : wrong)
  {
    uint64_t mine[kLine] = {0};
#pragma omp parallel for num_threads(2) ordered(1) schedule(dynamic, 2)
    for (int i = 0; i < kLine; i++) {
      ORDERED(SINK(i - 1) SINK(i - 7))
      mine[i] = line_at(mine, i);
      ORDERED(SOURCE)
    }
    wrong += memcmp(mine, line_serial, sizeof mine) != 0;
  }
  CHECK_EQ(wrong, 0);
  uint64_t alone[kLine] = {0};
#pragma omp for ordered(1)
  for (int i = 0; i < kLine; i++) {
    ORDERED(SINK(i - 1) SINK(i - 7))
    alone[i] = line_at(alone, i);
    ORDERED(SOURCE)
  }
  CHECK(memcmp(alone, line_serial, sizeof alone) == 0);
}

/* Iterations that wait, and threads that have explicit tasks to run meanwhile. */
static void with_tasks(void) {
  int tasks = 0;
  memset(line, 0, sizeof line);
#pragma omp parallel for ordered(1) schedule(static, 1)
  for (int i = 0; i < kLine; i++) {
#pragma omp task shared(tasks)
    {
#pragma omp atomic
      tasks++;
    }
    lag(i, 1);
    ORDERED(SINK(i - 1) SINK(i - 7))
    line[i] = line_at(line, i);
    ORDERED(SOURCE)
#pragma omp taskwait
  }
  CHECK(memcmp(line, line_serial, sizeof line) == 0);
  CHECK_EQ(tasks, kLine);
}

int main(void) {
  omp_set_dynamic(0);
  serial_results();
  schedules();
  post_before_the_end();
  chains();
  nested();
  with_tasks();
  return 0;
}
