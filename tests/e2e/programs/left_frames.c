/* SPDX-License-Identifier: Apache-2.0
 *
 * left_frames CASE: deferred target regions that map variables of functions. In the first cases the function has
 * returned, or the task has ended, when the region is not complete: it waits for a task that has a detach event, which
 * is fulfilled later. The other cases wait in time.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum { kLong = 64, kDeep = 64 << 10, kMany = 1100 };

static omp_event_handle_t event;
static char order, done;
static long sum;

/* Makes a task that completes only by `fulfil`. Successors by `order` are not complete before that. */
static void hold(void) {
  omp_event_handle_t made = 0;
#pragma omp task detach(made) depend(out : order)
  sum++;
  event = made;
}

static void fulfil(void) {
#pragma omp task if (0)
  sum++;
  omp_fulfill_event(event);
}

static void region(long* x, int held) {
  if (held) {
#pragma omp target nowait map(tofrom : x[0 : kLong]) depend(inout : order)
    x[1]++;
  } else {
#pragma omp target nowait map(tofrom : x[0 : kLong])
    x[1]++;
  }
}

/* Called so deep in the stack that no live frame lies there when the region writes. */
static __attribute__((noinline)) void forgets(int held) {
  long x[kLong] = {0}, y[kLong] = {0};
#pragma omp target nowait map(tofrom : x) map(to : y) depend(inout : order) /* here: region */
  x[1] += y[1];
  sum += x[2] + held;
}

static __attribute__((noinline)) void deep(void (*function)(int)) {
  char room[kDeep];
  __asm__ volatile("" : : "r"(room) : "memory");
  function(1);
  __asm__ volatile("" : : "r"(room) : "memory");
}

static void returns(void) {
  hold();
  deep(forgets);
  fulfil(); /* here: left */
}

/* The check keeps 1024 regions. */
static void returns_after_many(void) {
  hold();
  for (int i = 0; i < kMany; i++) {
#pragma omp task untied depend(in : order)
    ;
  }
  deep(forgets);
  fulfil();
}

static void ends(void) {
  hold();
#pragma omp task depend(out : done)
  deep(forgets);
#pragma omp taskwait depend(in : done)
  omp_fulfill_event(event);
}

/* The barrier at the parallel region's end comes after the end of its block. */
static void region_ends(void) {
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 0) {
    hold();
    deep(forgets);
#pragma omp task
    omp_fulfill_event(event);
  }
}

static __attribute__((noinline)) void waits(int held) {
  long x[kLong] = {0};
  region(x, held);
  if (held) fulfil();
#pragma omp taskwait
  sum += x[1];
}

static __attribute__((noinline)) void waits_for_group(void) {
  long x[kLong] = {0};
#pragma omp taskgroup
  region(x, 0);
  sum += x[1];
}

static __attribute__((noinline)) void waits_for_data(void) {
  long x[kLong] = {0};
#pragma omp target nowait map(tofrom : x) depend(inout : x)
  x[1]++;
#pragma omp taskwait depend(in : x)
  sum += x[1];
}

/* Clang calls the code of such a task or region in line: when it ends, the frame of the function is still there. */
static __attribute__((noinline)) void waits_around_task(void) {
  long x[kLong] = {0};
  hold();
#pragma omp taskgroup
  {
#pragma omp task if (0) shared(x)
    region(x, 1);
    omp_fulfill_event(event);
  }
  sum += x[1];
}

static __attribute__((noinline)) void waits_around_region(void) {
  long x[kLong] = {0};
#pragma omp parallel if (0)
  {
    hold();
    region(x, 1);
#pragma omp task
    omp_fulfill_event(event);
  }
  sum += x[1];
}

static __attribute__((noinline)) void maps_here(long* x) { region(x, 0); }

static __attribute__((noinline)) void calls_wait(void) {
#pragma omp taskwait
}

static void of_caller(void) {
  long x[kLong] = {0};
  for (int i = 0; i < 20; i++) {
    maps_here(x);
    waits_for_group();
    calls_wait();
  }
  sum += x[1];
}

static void of_heap(void) {
  long* x = calloc(kLong, sizeof *x);
  hold();
  region(x, 1);
  fulfil();
#pragma omp taskwait
  sum += x[1];
  free(x);
}

/* Functions of random depth map variables of their callers, which wait for that. */
static unsigned seed = 1;

static int draw(int below) {
  seed = seed * 1664525u + 1013904223u;
  return (int)((seed >> 8) % (unsigned)below);
}

static __attribute__((noinline)) void nest(int depth, long** outer) {
  long x[kLong] = {0};
  outer[depth] = x;
  for (int i = 0; i < 3; i++) {
    region(outer[draw(depth + 1)], 0);
#pragma omp task if (0)
    sum++;
    if (depth < 6) nest(depth + 1, outer);
    if (draw(3) == 0) calls_wait();
  }
#pragma omp taskwait
  sum += x[1];
}

/* The program switches to a stack of its own: no frame lies in the memory between the two stacks. */
static ucontext_t main_context, own_context;

static void on_own_stack(void) {
  long x[kLong] = {0};
  region(x, 1);
  swapcontext(&own_context, &main_context);
#pragma omp taskwait
  sum += x[1];
}

static void switches(void) {
  static char stack[256 << 10];
  hold();
  getcontext(&own_context);
  own_context.uc_stack.ss_sp = stack;
  own_context.uc_stack.ss_size = sizeof stack;
  own_context.uc_link = &main_context;
  makecontext(&own_context, on_own_stack, 0);
  swapcontext(&main_context, &own_context);
  fulfil();
  swapcontext(&main_context, &own_context);
}

static void run(const char* what) {
  if (strcmp(what, "returns") == 0)
    returns();
  else if (strcmp(what, "returns_after_many") == 0)
    returns_after_many();
  else if (strcmp(what, "ends") == 0)
    ends();
  else if (strcmp(what, "waits") == 0)
    for (int i = 0; i < 100; i++) waits(0);
  else if (strcmp(what, "waits_held") == 0)
    hold(), waits(1);
  else if (strcmp(what, "waits_for_group") == 0)
    for (int i = 0; i < 100; i++) waits_for_group();
  else if (strcmp(what, "waits_for_data") == 0)
    for (int i = 0; i < 100; i++) waits_for_data();
  else if (strcmp(what, "waits_around_task") == 0)
    waits_around_task();
  else if (strcmp(what, "waits_around_region") == 0)
    waits_around_region();
  else if (strcmp(what, "of_caller") == 0)
    of_caller();
  else if (strcmp(what, "of_heap") == 0)
    of_heap();
  else if (strcmp(what, "switches") == 0)
    switches();
  else {
    long* outer[8];
    nest(0, outer);
  }
}

int main(int count, char** words) {
  const char* what = count > 1 ? words[1] : "returns";
#pragma omp target
  ;
  if (strcmp(what, "region_ends") == 0) {
    region_ends();
  } else {
#pragma omp parallel num_threads(3)
#pragma omp single
    run(what);
  }
  puts("done");
  return 0;
}
