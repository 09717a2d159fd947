/* SPDX-License-Identifier: Apache-2.0
 *
 * What the environment says of nesting: lists of OMP_NUM_THREADS by level, when nesting is on by default, the thread
 * limit, dynamic adjustment. Each case is this program, run again.
 *
 * Covers: OMP_DYNAMIC, OMP_NUM_THREADS, OMP_THREAD_LIMIT, OMP_MAX_ACTIVE_LEVELS, OMP_NESTED, parallel(num_threads)
 */
#include "../child.h"
#include <omp.h>

/* OMP_NUM_THREADS=2,3,2 */
static void list(void) {
  CHECK(omp_get_max_active_levels() > 1);
  CHECK_EQ(omp_get_max_threads(), 2);
  int leaves = 0;
#pragma omp parallel reduction(+ : leaves)
  {
    CHECK_EQ(omp_get_num_threads(), 2);
    CHECK_EQ(omp_get_max_threads(), 3);
#pragma omp parallel reduction(+ : leaves)
    {
      CHECK_EQ(omp_get_num_threads(), 3);
      CHECK_EQ(omp_get_max_threads(), 2);
#pragma omp parallel reduction(+ : leaves)
      {
        CHECK_EQ(omp_get_num_threads(), 2);
        CHECK_EQ(omp_get_max_threads(), 2);
        leaves++;
      }
    }
    omp_set_num_threads(4); /* this task's regions; their own tasks go on with the list */
#pragma omp parallel
    {
      CHECK_EQ(omp_get_num_threads(), 4);
      CHECK_EQ(omp_get_max_threads(), 2);
      omp_set_num_threads(1); /* the list is at its end: this is inherited */
#pragma omp parallel
      {
        CHECK_EQ(omp_get_num_threads(), 1);
        CHECK_EQ(omp_get_max_threads(), 1);
      }
    }
  }
  CHECK_EQ(leaves, 12);
}

/* OMP_THREAD_LIMIT=5: whatever is asked for, no more than that run at one time. */
static void limit(void) {
  CHECK_EQ(omp_get_thread_limit(), 5);
  omp_set_max_active_levels(3);
  int running = 0, most = 0;
#pragma omp parallel num_threads(2) shared(running, most)
  for (int round = 0; round < 50; round++) {
#pragma omp parallel num_threads(6)
    {
      CHECK_RANGE(omp_get_num_threads(), 1, 4);
      int now;
#pragma omp atomic capture
      now = ++running;
#pragma omp critical
      most = now > most ? now : most;
#pragma omp parallel num_threads(2)
      CHECK_RANGE(omp_get_num_threads(), 1, 4);
#pragma omp barrier
#pragma omp atomic
      running--;
    }
  }
  CHECK_RANGE(most, 2, 5);
}

static void inner_size(int expected) {
#pragma omp parallel num_threads(2)
  {
#pragma omp parallel num_threads(2)
    CHECK_EQ(omp_get_num_threads(), expected);
  }
}

static void off(void) {
  CHECK_EQ(omp_get_max_active_levels(), 1);
  inner_size(1);
}

static void on(void) {
  CHECK(omp_get_max_active_levels() >= 2);
  inner_size(2);
}

/* OMP_DYNAMIC=true: fewer than asked, perhaps. */
static void adjusted(void) {
  CHECK_EQ(omp_get_dynamic(), 1);
  omp_set_max_active_levels(2);
  int members = 0, threads = 0;
#pragma omp parallel num_threads(7) reduction(+ : members, threads)
  {
    CHECK_RANGE(omp_get_num_threads(), 1, 7);
#pragma omp parallel num_threads(7) reduction(+ : members)
    {
      CHECK_RANGE(omp_get_num_threads(), 1, 7);
      members++;
    }
    threads++;
  }
  CHECK_RANGE(threads, 1, 7);
  CHECK_RANGE(members, threads, 49);
}

static void in_child(const char* which, char* first, char* second) {
  static Child child;
  char* variables[] = {first, second, NULL};
  run_child(&child, which, variables);
  if (!child.exited || child.status != 0) check_failed(__FILE__, __LINE__, "%s: %s", which, child.output);
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(void);
  } cases[] = {{"list", list}, {"limit", limit}, {"off", off}, {"on", on}, {"adjusted", adjusted}};
  for (unsigned i = 0; argc > 1 && i < sizeof cases / sizeof *cases; i++) {
    if (strcmp(argv[1], cases[i].name) == 0) {
      cases[i].run();
      return 0;
    }
  }
  in_child("list", "OMP_NUM_THREADS=2,3,2", NULL);
  in_child("limit", "OMP_THREAD_LIMIT=5", NULL);
  in_child("off", NULL, NULL);
  in_child("off", "OMP_MAX_ACTIVE_LEVELS=1", "OMP_NUM_THREADS=2,2");
  in_child("on", "OMP_MAX_ACTIVE_LEVELS=2", NULL);
  in_child("on", "OMP_NUM_THREADS=2,2", NULL);
  in_child("on", "OMP_PROC_BIND=spread,close", NULL);
  in_child("on", "OMP_NESTED=true", NULL);
  in_child("adjusted", "OMP_DYNAMIC=true", NULL);
  return 0;
}
