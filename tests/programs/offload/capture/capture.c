/* SPDX-License-Identifier: Apache-2.0
 *
 * Target tasks as they are created: what a kind of devices that takes them ahead of time is shown of each (capture.h),
 * that finding it out has no effect, that what cannot be found out runs as ever, and that a task is no more than what
 * is shown. Each construct waits for a host task that is held back until it has been looked at. */
#include "../../check.h"

#include "capture.h"

#include <omp.h>
#include <stdbool.h>

enum { N = 100 };

static int a[N], b[N];
static bool may_go;

static void (*set_mode)(int);
static int (*captured)(int, captured_t*);
static int (*taken)(void);

typedef struct wide {
  int values[60];
} wide_t;

/* Creates the task that all tasks of a construct are ordered after. */
static void hold_back(void) {
  __atomic_store_n(&may_go, false, __ATOMIC_RELEASE);
#pragma omp task depend(out : a[0])
  while (!__atomic_load_n(&may_go, __ATOMIC_ACQUIRE)) {
#pragma omp taskyield
  }
}

static void let_go(void) {
  __atomic_store_n(&may_go, true, __ATOMIC_RELEASE);
#pragma omp taskwait
}

/* The newest one, which is the first since `before`. */
static captured_t only_one_since(int before) {
  captured_t c;
  CHECK(captured(-1, NULL) == before + 1);
  captured(before, &c);
  return c;
}

static const void* item_of(const captured_t* c, const void* begin, int64_t size, uint64_t* type) {
  for (int i = 0; i < c->count && i < CAPTURE_ITEMS; ++i) {
    if (c->begins[i] != begin || c->sizes[i] != size) continue;
    *type = c->types[i];
    return begin;
  }
  return NULL;
}

static void region(void) {
  int before = captured(-1, NULL), k = 7;
  uint64_t type = 0;
  for (int i = 0; i < N; ++i) a[i] = i;
  hold_back();
#pragma omp target nowait map(tofrom : a[0 : N]) map(to : b[0 : N]) firstprivate(k) depend(inout : a[0])
  for (int i = 0; i < N; ++i) a[i] += k + b[i];
  captured_t c = only_one_since(before);
  CHECK(c.kind == 1 && c.has_kernel && c.dependences == 1 && c.dependence == &a[0] && c.dependence_type == 3);
  CHECK(item_of(&c, a, sizeof a, &type) != NULL && (type & 3) == 3);
  CHECK(item_of(&c, b, sizeof b, &type) != NULL && (type & 3) == 1);
  CHECK(a[5] == 5);
  for (int i = 0; i < N; ++i) b[i] = 1000;
  let_go();
  for (int i = 0; i < N; ++i) CHECK(a[i] == i + 1007);
  for (int i = 0; i < N; ++i) b[i] = 0;
}

static void parallel_region(void) {
  int before = captured(-1, NULL), n = N - 1;
  for (int i = 0; i < N; ++i) a[i] = 0;
  hold_back();
#pragma omp target teams distribute parallel for nowait map(tofrom : a[1 : n]) device(0) depend(inout : a[0])
  for (int i = 1; i < N; ++i) a[i] = 2 * i;
  captured_t c = only_one_since(before);
  uint64_t type;
  CHECK(c.kind == 1 && c.has_kernel && c.device == 0 && item_of(&c, &a[1], sizeof a - sizeof a[0], &type) != NULL);
  let_go();
  for (int i = 0; i < N; ++i) CHECK(a[i] == 2 * i);
}

/* A region for the host: its body must run once, and not before its predecessor has ended. */
static void on_host(int c) {
  int before = captured(-1, NULL);
  a[1] = 1;
  hold_back();
#pragma omp target nowait map(tofrom : a[0 : N]) depend(inout : a[0]) if (target : c)
  a[1] *= 3;
  if (c) {
    CHECK(captured(-1, NULL) == before + 1);
  } else {
    CHECK(captured(-1, NULL) == before);
  }
  CHECK(a[1] == 1);
  let_go();
  CHECK(a[1] == 3);
}

#if !defined(__clang__) || __clang_major__ >= 19 /* older ones do not know the clauses */
/* Clang's code sets the limit in the task, before the construct: not in the task that creates it. */
static void thread_limit(void) {
  int before = omp_get_thread_limit();
  CHECK(before > 3);
  a[5] = 1;
  hold_back();
#pragma omp target nowait map(tofrom : a[0 : N]) depend(inout : a[0]) thread_limit(3)
  a[5] *= 7;
#pragma omp target parallel for nowait map(tofrom : a[0 : N]) depend(inout : a[0]) thread_limit(2)
  for (int i = 10; i < N; ++i) a[i] = i;
  CHECK(omp_get_thread_limit() == before);
  let_go();
  CHECK(omp_get_thread_limit() == before);
  CHECK(a[5] == 7 && a[N - 1] == N - 1);
}

#else
static void thread_limit(void) {}
#endif

#if defined(__clang__) && __clang_major__ >= 19
/* Clang's code asks for the task's copy, before the construct, and this sink knows nothing of reductions. */
static void in_reduction(void) {
  int sum = 1;
#pragma omp taskgroup task_reduction(+ : sum)
  {
    int before = captured(-1, NULL);
    hold_back();
#pragma omp target nowait map(tofrom : a[0 : N]) in_reduction(+ : sum) depend(inout : a[0])
    a[6] = 11;
    CHECK(captured(-1, NULL) == before);
    let_go();
  }
  CHECK(sum == 1 && a[6] == 11);
}
#else
static void in_reduction(void) {}
#endif

/* What is captured has the values at the construct; otherwise Clang's code passes the variable itself. */
static void private_values(bool changes) {
  wide_t wide;
  double d = 1.5;
  for (int i = 0; i < 60; ++i) wide.values[i] = i;
  int before = captured(-1, NULL);
  hold_back();
#pragma omp target nowait map(tofrom : a[0 : N]) firstprivate(wide, d) depend(inout : a[0])
  a[2] = wide.values[59] + (int)(2 * d);
  only_one_since(before);
  if (changes) wide.values[59] = 0;
  d = 0;
  let_go();
  CHECK(a[2] == 62);
}

static void data(void) {
  int before = captured(-1, NULL), other = 5;
  uint64_t type = 0;
  captured_t c;
  for (int i = 0; i < N; ++i) a[i] = i;
  hold_back();
#pragma omp target enter data map(to : a[0 : N]) nowait depend(inout : a[0])
#pragma omp target nowait depend(inout : a[0]) firstprivate(other)
  a[3] += other;
#pragma omp target update from(a[0 : 10]) nowait depend(inout : a[0])
#pragma omp target exit data map(from : a[0 : N]) nowait depend(inout : a[0])
  CHECK(captured(-1, NULL) == before + 4);
  captured(before, &c);
  CHECK(c.kind == 2 && item_of(&c, a, sizeof a, &type) != NULL && (type & 3) == 1);
  captured(before + 1, &c);
  CHECK(c.kind == 1 && c.has_kernel);
  captured(before + 2, &c);
  CHECK(c.kind == 4 && item_of(&c, a, 10 * sizeof a[0], &type) != NULL && (type & 3) == 2);
  captured(before + 3, &c);
  CHECK(c.kind == 3 && item_of(&c, a, sizeof a, &type) != NULL && (type & 3) == 2);
  let_go();
  CHECK(a[3] == 8 && a[4] == 4);
}

/* A target construct inside a task is not a task of its own. */
static void inside_a_task(void) {
  int before = captured(-1, NULL);
  a[4] = 1;
  hold_back();
#pragma omp task depend(inout : a[0])
  {
#pragma omp target map(tofrom : a[0 : N])
    a[4] *= 5;
  }
  CHECK(captured(-1, NULL) == before);
  let_go();
  CHECK(a[4] == 5);
}

#ifdef __clang__
typedef struct list {
  int length;
  int* items;
} list_t;
#pragma omp declare mapper(list_t l) map(l, l.items[0 : l.length])

/* What a mapper maps is known when it runs: the length is set by a predecessor. */
static void mapper(void) {
  int before = captured(-1, NULL);
  list_t list = {0, b};
  hold_back();
#pragma omp task depend(inout : a[0]) shared(list)
  list.length = 10;
#pragma omp target nowait map(tofrom : list) depend(inout : a[0])
  list.items[9] = 99;
  CHECK(captured(-1, NULL) == before);
  let_go();
  CHECK(b[9] == 99);
  b[9] = 0;
}
#else
static void mapper(void) {}
#endif

static void many(void) {
  long sum = 0;
  for (int i = 0; i < N; ++i) a[i] = 0;
  for (int i = 0; i < 1000; ++i) {
    int* cell = &a[i % N];
#pragma omp target nowait map(tofrom : cell[0 : 1]) firstprivate(i) depend(inout : cell[0])
    cell[0] += i;
  }
#pragma omp taskwait
  for (int i = 0; i < N; ++i) sum += a[i];
  CHECK(sum == 499500);
}

static void all(bool takes) {
  region();
  parallel_region();
  on_host(0);
  on_host(1);
  thread_limit();
  in_reduction();
  private_values(takes);
  data();
  inside_a_task();
  mapper();
  many();
}

int main(void) {
  set_mode = (void (*)(int))dlsym(RTLD_DEFAULT, "marline_device_capture_mode");
  captured = (int (*)(int, captured_t*))dlsym(RTLD_DEFAULT, "marline_device_captured");
  taken = (int (*)(void))dlsym(RTLD_DEFAULT, "marline_device_capture_taken");
  if (set_mode == NULL && omp_get_num_devices() > 0) {
    set_mode = (void (*)(int))dlsym(RTLD_DEFAULT, "marline_device_capture_mode");
    captured = (int (*)(int, captured_t*))dlsym(RTLD_DEFAULT, "marline_device_captured");
    taken = (int (*)(void))dlsym(RTLD_DEFAULT, "marline_device_capture_taken");
  }
  CHECK(set_mode != NULL && captured != NULL && taken != NULL);
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    all(false);
    CHECK(taken() == 0);
    int seen = captured(-1, NULL);
    set_mode(CAPTURE_TAKE);
    all(true);
    CHECK(captured(-1, NULL) == 2 * seen && taken() == seen);
  }
  return 0;
}
