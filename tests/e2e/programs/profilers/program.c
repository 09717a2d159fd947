/* SPDX-License-Identifier: Apache-2.0
 *
 * What the models of profilers watch: each part that an argument names, in regions of OMP_NUM_THREADS threads, as often
 * as the first argument says. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kItems = 48, kDepth = 6 };
static int sum;

static void use(int value) {
  volatile int work = 0;
  for (int i = 0; i < 10000; i++) work += i;
#pragma omp atomic
  sum += value + 0 * work;
}

static void loops(void) {
  int total = 0;
#pragma omp parallel
  {
#pragma omp for schedule(static) nowait
    for (int i = 0; i < kItems; i++) use(1);
#pragma omp for schedule(dynamic, 3) reduction(+ : total)
    for (int i = 0; i < kItems; i++) total += i;
#pragma omp for schedule(guided) ordered
    for (int i = 0; i < kItems; i++) {
#pragma omp ordered
      use(1);
    }
#pragma omp sections
    {
      use(1);
#pragma omp section
      use(1);
#pragma omp section
      use(1);
    }
#pragma omp single
    use(1);
#pragma omp single nowait
    use(1);
#pragma omp master
    use(1);
#pragma omp barrier
#pragma omp critical
    use(1);
  }
}

static void locks(void) {
  omp_lock_t lock;
  omp_nest_lock_t nest;
  omp_init_lock(&lock);
  omp_init_nest_lock(&nest);
#pragma omp parallel
  {
    omp_set_lock(&lock);
    use(1);
    omp_unset_lock(&lock);
    if (omp_test_lock(&lock)) omp_unset_lock(&lock);
    omp_set_nest_lock(&nest);
    omp_set_nest_lock(&nest);
    use(1);
    omp_unset_nest_lock(&nest);
    omp_unset_nest_lock(&nest);
  }
  omp_destroy_lock(&lock);
  omp_destroy_nest_lock(&nest);
}

static void nested(void) {
#pragma omp parallel
  {
#pragma omp parallel num_threads(2)
    {
      use(1);
#pragma omp for
      for (int i = 0; i < kItems; i++) use(1);
#pragma omp parallel num_threads(1)
      use(1);
    }
#pragma omp barrier
    use(1);
  }
}

static void tree(int depth) {
  if (depth == 0) return use(1);
  for (int i = 0; i < 2; i++) {
#pragma omp task
    tree(depth - 1);
  }
#pragma omp taskwait
  use(1);
}

/* Tasks that wait for tasks, dependences, undeferred and final tasks, a taskgroup; and tasks that nobody waits for but
 * the barrier. */
static void tasks(void) {
  int a = 0, b = 0;
#pragma omp parallel
  {
#pragma omp single
    {
      for (int i = 0; i < kItems; i++) {
#pragma omp task depend(inout : a) shared(a)
        a++;
#pragma omp task depend(in : a) depend(inout : b) shared(a, b)
        b += a;
      }
#pragma omp task
      tree(kDepth);
#pragma omp taskgroup
      {
#pragma omp task if (0)
        use(1);
#pragma omp task final(1)
        tree(2);
      }
#pragma omp taskwait
      for (int i = 0; i < kItems; i++) {
#pragma omp task
        use(1);
      }
    }
#pragma omp task
    tree(3);
  }
}

static void serial_tasks(void) {
#pragma omp task
  use(1);
#pragma omp taskwait
  use(1);
}

static void task_regions(void) {
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 8; i++) {
#pragma omp task
    {
#pragma omp parallel num_threads(2)
      {
        use(1);
#pragma omp single
#pragma omp task
        use(1);
      }
#pragma omp taskwait
    }
  }
}

static void taskloops(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskloop grainsize(4)
    for (int i = 0; i < kItems; i++) use(1);
#pragma omp taskloop num_tasks(5) nogroup
    for (int i = 0; i < kItems; i++) tree(1);
  }
}

static void yields(void) {
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < kItems; i++) {
#pragma omp task
    {
#pragma omp taskyield
      use(1);
    }
  }
}

static void untied_tasks(void) {
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < kItems; i++) {
#pragma omp task untied
    {
      use(1);
#pragma omp task
      use(1);
#pragma omp taskwait
      use(1);
    }
  }
}

static void waits_for_one(void) {
  int x = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp task depend(out : x) shared(x)
    x = 1;
#pragma omp taskwait depend(in : x)
    use(x);
  }
}

static void detached(void) {
#pragma omp parallel
#pragma omp single
  {
    omp_event_handle_t event;
    int ended = 0;
#pragma omp task detach(event) shared(ended)
#pragma omp atomic write
    ended = 1;
#pragma omp task shared(event)
    omp_fulfill_event(event);
#pragma omp taskwait
    use(ended);
  }
}

static const struct {
  const char* name;
  void (*run)(void);
} parts[] = {
#define PART(name) {#name, name}
    PART(loops),  PART(locks),        PART(nested),        PART(tasks),    PART(serial_tasks), PART(task_regions),
    PART(yields), PART(untied_tasks), PART(waits_for_one), PART(detached), PART(taskloops),
};

int main(int argc, char** argv) {
  omp_set_max_active_levels(3);
  for (int round = argc > 1 ? atoi(argv[1]) : 0; round > 0; round--) {
    for (int i = 2; i < argc; i++) {
      size_t part = 0;
      while (part < sizeof parts / sizeof *parts && strcmp(argv[i], parts[part].name) != 0) part++;
      if (part == sizeof parts / sizeof *parts) return 2;
      parts[part].run();
    }
  }
  printf("done %d\n", sum > 0);
  return 0;
}
