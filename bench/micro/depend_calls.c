/* SPDX-License-Identifier: Apache-2.0
 *
 * Five dependences of one task, said in three ways: by the clause, by a list (marline_task_depend) and by an object
 * that was filtered once (marline_task_depend_object). The wavefront of wavefront.c; one thread creates, and waits
 * after each sweep. Figures: `depend_clause`, `depend_list`, `depend_object`, wall time per task. Needs Marline. Its
 * functions are looked up by name, so that the program is built like the others.
 */
#include "bench.h"

#include "../../include/marline/marline.h"

enum { kSide = 64, kDependences = 5 };

static unsigned grid[kSide + 1][kSide + 2], expected[kSide + 1][kSide + 2];
static marline_depend_object_t* objects[kSide + 1][kSide + 1];

static struct {
  void (*depend)(const marline_dependence_t*, size_t);
  void (*depend_object)(const marline_depend_object_t*);
  marline_depend_object_t* (*create)(const marline_dependence_t*, size_t);
} calls;

static void look_up(void* call, const char* name) {
  if ((*(void**)call = dlsym(RTLD_DEFAULT, name)) == NULL) bench_fail("no %s: run it under Marline", name);
}

static inline void update(int i, int j) {
  grid[i][j] =
      3 * grid[i][j] + 5 * grid[i][j - 1] + 7 * grid[i - 1][j - 1] + 11 * grid[i - 1][j] + 13 * grid[i - 1][j + 1] + 1;
}

#define LIST(i, j)                                                                                   \
  {                                                                                                  \
    {&grid[i][j - 1], MARLINE_IN}, {&grid[i - 1][j - 1], MARLINE_IN}, {&grid[i - 1][j], MARLINE_IN}, \
        {&grid[i - 1][j + 1], MARLINE_IN}, {                                                         \
      &grid[i][j], MARLINE_INOUT                                                                     \
    }                                                                                                \
  }

static void by_clause(int i, int j) {
#pragma omp task firstprivate(i, j) depend(in : grid[i][j - 1], grid[i - 1][j - 1], grid[i - 1][j]) \
    depend(in : grid[i - 1][j + 1]) depend(inout : grid[i][j])
  update(i, j);
}

static void by_list(int i, int j) {
  const marline_dependence_t list[kDependences] = LIST(i, j);
  calls.depend(list, kDependences);
#pragma omp task firstprivate(i, j)
  update(i, j);
}

static void by_object(int i, int j) {
  calls.depend_object(objects[i][j]);
#pragma omp task firstprivate(i, j)
  update(i, j);
}

static inline void run(long rounds, void (*create)(int, int)) {
  memset(grid, 0, sizeof grid);
#pragma omp parallel
#pragma omp single
  for (long r = 0; r < rounds; ++r) {
    for (int i = 1; i <= kSide; ++i)
      for (int j = 1; j <= kSide; ++j) create(i, j);
#pragma omp taskwait
  }
}

static void run_clause(long rounds) { run(rounds, by_clause); }
static void run_list(long rounds) { run(rounds, by_list); }
static void run_object(long rounds) { run(rounds, by_object); }

static int check(long rounds) {
  memcpy(expected, grid, sizeof grid);
  memset(grid, 0, sizeof grid);
  for (long r = 0; r < rounds; ++r)
    for (int i = 1; i <= kSide; ++i)
      for (int j = 1; j <= kSide; ++j) update(i, j);
  return !memcmp(grid, expected, sizeof grid);
}

int main(int argc, char** argv) {
  static const struct BenchFigure figures[] = {{"depend_clause", "ns", kSide * kSide, run_clause, check, NULL},
                                               {"depend_list", "ns", kSide * kSide, run_list, check, NULL},
                                               {"depend_object", "ns", kSide * kSide, run_object, check, NULL}};
  look_up(&calls.depend, "marline_task_depend");
  look_up(&calls.depend_object, "marline_task_depend_object");
  look_up(&calls.create, "marline_depend_create");
  for (int i = 1; i <= kSide; ++i)
    for (int j = 1; j <= kSide; ++j) {
      const marline_dependence_t list[kDependences] = LIST(i, j);
      objects[i][j] = calls.create(list, kDependences);
    }
  return bench_main(argc, argv, figures, 3);
}
