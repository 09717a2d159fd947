/* SPDX-License-Identifier: Apache-2.0
 *
 * Task affinity on a described machine of two NUMA domains (its pages are dealt out in turn): one thread that runs all
 * tasks runs the tasks of its own domain first, and no successor of the other domain in between; and with all threads
 * at work, every task runs once. Clang's clause with -DCLAUSE, else marline_task_affinity.
 *
 * Covers: marline locality
 * Covers (clang): task(affinity)
 */
#include "../check.h"
#include "log.h"
#include <marline/marline.h>
#include <omp.h>

enum { PAIRS = 40, MANY = 20000 };

static char* pages[2]; /* one in each domain */
static size_t page;
static int created, done;

static void allocate_pages(void) {
  page = (size_t)sysconf(_SC_PAGESIZE);
  char* memory = aligned_alloc(2 * page, 2 * page); /* its first page has an even number: domain 0 */
  memset(memory, 1, 2 * page);
  pages[0] = memory;
  pages[1] = memory + page;
}

#ifdef CLAUSE
#define NEAR(where) _Pragma("omp task affinity(pages[where][0 : page]) firstprivate(where)")
#define NEAR_AFTER(where, link) \
  _Pragma("omp task affinity(pages[where][0 : page]) firstprivate(where) depend(inout : link[0])")
#else
#define NEAR(where)                          \
  marline_task_affinity(pages[where], page); \
  _Pragma("omp task firstprivate(where)")
#define NEAR_AFTER(where, link)              \
  marline_task_affinity(pages[where], page); \
  _Pragma("omp task firstprivate(where) depend(inout : link[0])")
#endif

static void run(int where) {
  log_add(where);
  count_up(&done);
}

/* Thread 0 creates, `runner` runs everything; thread t is bound to domain t. */
static void one_runs_all(int runner, int chains) {
  created = done = log_count = 0;
  int x[PAIRS];
#pragma omp parallel num_threads(2) shared(x)
  {
    int me = omp_get_thread_num();
    if (me == 0) {
      for (int i = 0; i < 2 * PAIRS; i++) {
        int where = i % 2;
        if (chains) {
          int* link = &x[i / 2];
          (void)link;
          NEAR_AFTER(where, link)
          run(where);
        } else {
          NEAR(where)
          run(where);
        }
      }
      count_up(&created);
    }
    wait_until(&created, 1);
    if (me != runner) wait_until(&done, 2 * PAIRS);
  }
  CHECK_EQ(log_count, 2 * PAIRS);
  for (int i = 0; i < 2 * PAIRS; i++) CHECK_EQ(log_entries[i], i < PAIRS ? runner : !runner);
}

static void all_run_all(void) {
  int sum = 0;
#pragma omp parallel num_threads(4)
#pragma omp single
  for (int i = 0; i < MANY; i++) {
    int where = i % 3 == 0;
    NEAR(where)
    __atomic_fetch_add(&sum, pages[where][0], __ATOMIC_RELAXED);
  }
  CHECK_EQ(sum, MANY);
}

int main(void) {
  check_runtime();
  allocate_pages();
  one_runs_all(0, 0);
  one_runs_all(1, 0);
  one_runs_all(0, 1); /* the successors' data lies in the other domain: they are left to it */
  all_run_all();
  one_runs_all(1, 0); /* a team of another size in between */
  return 0;
}
