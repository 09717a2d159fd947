/* SPDX-License-Identifier: Apache-2.0
 *
 * One construct per name given as an argument, in a region of OMP_NUM_THREADS threads: what the OMPT test's tool hears
 * of each is compared between runtimes. Lines "construct name=..." stand between them. */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#pragma weak omp_init_lock_with_hint /* libgomp, against which gcc links, has not these */
#pragma weak omp_init_nest_lock_with_hint

static int sum, total;
static omp_lock_t lock;
static omp_nest_lock_t nest;

static void use(int value) {
#pragma omp atomic
  sum += value;
}

static void first(void) { use(1); }

static void loop_static(void) {
#pragma omp for schedule(static)
  for (int i = 3; i < 20; ++i) use(i);
}

static void loop_static_chunk(void) {
#pragma omp for schedule(static, 4) nowait
  for (int i = 0; i < 10; ++i) use(i);
}

static void loop_dynamic(void) {
#pragma omp for schedule(dynamic, 4)
  for (int i = 2; i < 20; i += 2) use(i);
}

static void loop_guided(void) {
#pragma omp for schedule(guided, 8) nowait
  for (long i = 20; i > 0; --i) use((int)i);
}

static void loop_runtime(void) {
#pragma omp for schedule(runtime)
  for (unsigned long i = 0; i < 5; ++i) use((int)i);
}

static void loop_empty(void) {
#pragma omp for schedule(dynamic)
  for (int i = 0; i < sum - sum; ++i) use(i);
}

static void loop_ordered(void) {
#pragma omp for ordered schedule(dynamic, 2)
  for (int i = 0; i < 3; ++i) {
#pragma omp ordered
    use(i);
  }
}

static void loop_reduction(void) {
#pragma omp for reduction(+ : total) schedule(dynamic, 5)
  for (int i = 0; i < 10; ++i) total += i;
  use(total);
}

static void sections(void) {
#pragma omp sections
  {
    use(1);
#pragma omp section
    use(2);
  }
}

static void single(void) {
#pragma omp single
  use(1);
}

static void single_nowait(void) {
#pragma omp single nowait
  use(1);
#pragma omp barrier
}

static void single_copyprivate(void) {
  int value = 0;
#pragma omp single copyprivate(value)
  value = 5;
  use(value);
}

static void masked(void) {
#pragma omp master
  use(1);
}

static void taskloop(void) {
#pragma omp taskloop num_tasks(2)
  for (int i = 0; i < 6; ++i) use(i);
}

static void taskloop_nogroup(void) {
#pragma omp taskloop grainsize(3) nogroup
  for (int i = 0; i < 6; ++i) use(i);
#pragma omp taskwait
}

static void critical(void) {
#pragma omp critical
  use(1);
}

static void critical_named(void) {
#pragma omp critical(name) hint(omp_sync_hint_contended)
  use(1);
}

static void locks(void) {
  omp_init_lock(&lock);
  omp_set_lock(&lock);
  printf("tested value=%d\n", omp_test_lock(&lock));
  omp_unset_lock(&lock);
  printf("tested value=%d\n", omp_test_lock(&lock));
  omp_unset_lock(&lock);
  omp_destroy_lock(&lock);
}

static void locks_with_hint(void) {
  omp_init_lock_with_hint(&lock, omp_sync_hint_contended);
  omp_destroy_lock(&lock);
  omp_init_nest_lock_with_hint(&nest, omp_sync_hint_uncontended);
  omp_destroy_nest_lock(&nest);
}

static void nest_locks(void) {
  omp_init_nest_lock(&nest);
  omp_set_nest_lock(&nest);
  omp_set_nest_lock(&nest);
  printf("tested value=%d\n", omp_test_nest_lock(&nest));
  omp_unset_nest_lock(&nest);
  omp_unset_nest_lock(&nest);
  omp_unset_nest_lock(&nest);
  printf("tested value=%d\n", omp_test_nest_lock(&nest));
  omp_unset_nest_lock(&nest);
  omp_destroy_nest_lock(&nest);
}

static void task_wait(void) {
  int x = 0;
#pragma omp task shared(x)
  x = 1;
#pragma omp taskwait
  use(x);
}

static void task_if0(void) {
#pragma omp task if (0)
  use(1);
}

static void task_if0_depend(void) {
  int x = 0;
#pragma omp task shared(x) depend(out : x)
  x = 1;
#pragma omp task if (0) shared(x) depend(in : x)
  use(x);
#pragma omp taskwait
}

static void taskwait_depend(void) {
  int x = 0;
#pragma omp task shared(x) depend(out : x)
  x = 1;
#pragma omp taskwait depend(in : x)
  use(x);
#pragma omp taskwait
}

static void taskgroup(void) {
#pragma omp taskgroup
  {
#pragma omp task
    use(1);
  }
}

static void fulfilled_early(void) {
  omp_event_handle_t handle = (omp_event_handle_t)0;
#pragma omp task detach(handle)
  omp_fulfill_event(handle);
#pragma omp taskwait
}

static void fulfilled_late(void) {
  omp_event_handle_t event = (omp_event_handle_t)0;
  int ended = 0;
#pragma omp task detach(event) shared(ended)
  ended = 1;
  while (__atomic_load_n(&ended, __ATOMIC_ACQUIRE) == 0) {
#pragma omp taskyield
  }
#pragma omp task shared(event)
  omp_fulfill_event(event);
#pragma omp taskwait
  use(ended);
}

static void region_if0(void) {
#pragma omp parallel if (0)
  use(1);
}

static void region_nested(void) {
#pragma omp parallel num_threads(1)
  use(1);
}

static const struct {
  const char* name;
  void (*run)(void);
} constructs[] = {
#define C(name) {#name, name}
    C(first),
    C(loop_static),
    C(loop_static_chunk),
    C(loop_dynamic),
    C(loop_guided),
    C(loop_runtime),
    C(loop_empty),
    C(loop_ordered),
    C(loop_reduction),
    C(sections),
    C(single),
    C(single_nowait),
    C(single_copyprivate),
    C(masked),
    C(taskloop),
    C(taskloop_nogroup),
    C(critical),
    C(critical_named),
    C(locks),
    C(locks_with_hint),
    C(nest_locks),
    C(task_wait),
    C(task_if0),
    C(task_if0_depend),
    C(taskwait_depend),
    C(taskgroup),
    C(fulfilled_early),
    C(fulfilled_late),
    C(region_if0),
    C(region_nested),
};

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    for (size_t c = 0; c < sizeof constructs / sizeof *constructs; ++c) {
      if (strcmp(argv[i], constructs[c].name) != 0) continue;
      printf("construct name=%s\n", argv[i]);
#pragma omp parallel
      constructs[c].run();
    }
  }
  puts("done");
  return sum < 0;
}
