/* SPDX-License-Identifier: Apache-2.0
 *
 * Random taskloops against a serial reference: each iteration once, in a task of its own kind, whatever the tasks
 * before it on the same thread have done. An iteration may yield, create tasks, with dependences or without, and wait
 * for them or not, run a taskloop, set its own control variables, hold a lock, or cancel the loop. A taskloop waits for
 * all that its tasks create; with nogroup, a taskwait waits for the tasks alone. With HAVE_EVENTS an iteration may wait
 * for one that comes later in the loop. Usage: taskloop_random [loops [first seed]]
 *
 * Covers: task(firstprivate, shared, depend:inout), taskloop(grainsize, num_tasks, nogroup, untied, final, if,
 *  priority, collapse, lastprivate, firstprivate, reduction, shared), taskwait, taskgroup, taskyield, omp_in_final,
 *  cancel(taskgroup), cancellation point(taskgroup)
 */
#include "../check.h"
#include <omp.h>
#include <stdint.h>
#ifdef HAVE_EVENTS
#include "marline/marline.h"
#endif

enum { kMost = 300, kDepth = 2 };

/* What an iteration does. */
enum { kNothing, kYield, kChildren, kChildrenAwaited, kOrdered, kLoop, kThreads, kLock, kEvent, kDeeds };
/* The kinds of loops. */
enum { kPlain, kUntied, kNogroup, kFinal, kPriority, kReduction, kCollapse, kDown, kUnsigned, kLast, kCancel, kKinds };

static uint64_t mix(uint64_t x) { /* splitmix64 (Steele, Lea, Flood, 2014) */
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
  return x ^ x >> 31;
}

/* A loop: all of it follows from its seed and depth. */
typedef struct Loop {
  uint64_t seed;
  int depth, kind, count, grain, tasks, threads;
  int in_final, cancelled;
  long started, ended, descendants; /* atomic */
  int hits[kMost];
#ifdef HAVE_EVENTS
  marline_event_t events[kMost];
#endif
} Loop;

static uint64_t seed_of(const Loop* loop, int i) { return mix(loop->seed ^ mix((uint64_t)i + 1)); }

/* In a final task everything is run at once: there nothing may wait for what comes later. */
static int deed_of(const Loop* loop, int i) {
  const uint64_t r = seed_of(loop, i);
  if ((r & 3) != 0 && (loop->seed & 1)) return kNothing; /* loops of mostly empty tasks, too */
  const int deed = (int)(r >> 8 & 0xff) % kDeeds;
  if (loop->kind == kCancel && deed != kThreads && deed != kLock) return kYield; /* what is cancelled leaves no sums */
  return deed == kLoop && loop->depth == 0 ? kYield : deed;
}

static int children_of(const Loop* loop, int i) { return 1 + (int)(seed_of(loop, i) >> 20 & 1); }

static Loop* make_loop(uint64_t seed, int depth, int in_final) {
  Loop* loop = calloc(1, sizeof *loop);
  const uint64_t r = mix(seed);
  loop->seed = seed;
  loop->depth = depth;
  loop->kind = (int)(r & 0xff) % kKinds;
  loop->count = depth == kDepth ? (int)(r >> 8 & 0xffff) % kMost + 1 : (int)(r >> 8 & 0xffff) % 12 + 1;
  if ((r >> 40 & 3) != 0)
    loop->grain = 1 + (int)(r >> 44 & 3);
  else
    loop->tasks = 1 + (int)(r >> 44 & 0x1f);
  loop->in_final = in_final || loop->kind == kFinal;
  return loop;
}

static void add(long* to, long value) { __atomic_add_fetch(to, value, __ATOMIC_RELAXED); }
static long value_of(long* of) { return __atomic_load_n(of, __ATOMIC_ACQUIRE); }

static void run(Loop* loop);

static void create_children(Loop* loop, int i, int awaited) {
  long ran = 0;
  long* count = awaited ? &ran : &loop->descendants;
  for (int c = 0; c < children_of(loop, i); c++) {
#pragma omp task firstprivate(count)
    {
      if (c == 1) {
#pragma omp taskyield
      }
      add(count, 1);
    }
  }
  if (!awaited) return;
#pragma omp taskwait
  CHECK_EQ(value_of(&ran), children_of(loop, i));
  add(&loop->descendants, ran);
}

/* The next task's dependence table must be empty: the address is the same for all. */
static void create_ordered(Loop* loop) {
  static char same;
  int order = 0;
  (void)same; /* GCC does not see the use */
#pragma omp task depend(inout : same) shared(order)
  order = 1;
#pragma omp task depend(inout : same) shared(order, loop)
  {
    CHECK_EQ(order, 1);
    add(&loop->descendants, 1);
  }
#pragma omp taskwait
}

static void hold_lock(void) {
  omp_nest_lock_t lock;
  omp_init_nest_lock(&lock);
  omp_set_nest_lock(&lock);
#pragma omp taskyield
  CHECK_EQ(omp_test_nest_lock(&lock), 2); /* the task still owns it */
  omp_unset_nest_lock(&lock);
  omp_unset_nest_lock(&lock);
  omp_destroy_nest_lock(&lock);
}

#ifdef HAVE_EVENTS
/* Whether the tasks of the loop may wait for each other. */
static int is_deferred(const Loop* loop) {
  return !loop->in_final && loop->kind != kCancel && (loop->kind != kPlain || (loop->seed & 16));
}

/* Waits for a later iteration, if it belongs to another task for sure. */
static void wait_for_later(Loop* loop, int i) {
  const int tasks = loop->tasks < loop->count ? loop->tasks : loop->count;
  const int later = i + (loop->grain ? 2 * loop->grain : loop->count / tasks + 1);
  if (is_deferred(loop) && loop->kind != kDown && later < loop->count) marline_event_wait(&loop->events[later]);
}
#endif

static void iterate(Loop* loop, int i) {
  CHECK_EQ(omp_in_final(), loop->in_final);
  __atomic_add_fetch(&loop->hits[i], 1, __ATOMIC_RELAXED);
#ifdef HAVE_EVENTS
  marline_event_fulfill(&loop->events[i]);
#endif
  switch (deed_of(loop, i)) {
    case kYield: {
#pragma omp taskyield
      break;
    }
    case kChildren: create_children(loop, i, 0); break;
    case kChildrenAwaited: create_children(loop, i, 1); break;
    case kOrdered: create_ordered(loop); break;
    case kThreads: omp_set_num_threads(1 + i % 7); break;
    case kLock: hold_lock(); break;
#ifdef HAVE_EVENTS
    case kEvent: wait_for_later(loop, i); break;
#endif
    case kLoop: {
      Loop* inner = make_loop(seed_of(loop, i), loop->depth - 1, loop->in_final);
      run(inner);
      free(inner);
      break;
    }
    default: break;
  }
  add(&loop->ended, 1);
}

/* The first iteration of a task finds the control variables as they were where the loop began. */
static void check_first(const Loop* loop, int* is_first) {
  if (*is_first) CHECK_EQ(omp_get_max_threads(), loop->threads);
  *is_first = 0;
}

#define STRING(...) #__VA_ARGS__
#define OMP(...) _Pragma(STRING(__VA_ARGS__))
#define FORM(header, index, clauses)                                              \
  if (loop->grain) {                                                              \
    OMP(omp taskloop grainsize(loop->grain) firstprivate(first) clauses) header { \
      check_first(loop, &first);                                                  \
      iterate(loop, index);                                                       \
    }                                                                             \
  } else {                                                                        \
    OMP(omp taskloop num_tasks(loop->tasks) firstprivate(first) clauses) header { \
      check_first(loop, &first);                                                  \
      iterate(loop, index);                                                       \
    }                                                                             \
  }

static void run_collapsed(Loop* loop, int first) {
  const int rows = loop->count / 3;
  loop->count = rows * 3;
  FORM(for (int row = 0; row < rows; row++) for (int column = 0; column < 3; column++), row * 3 + column, collapse(2))
}

static void run_reducing(Loop* loop, int first) {
  long sum = 5;
  loop->grain = 2;
#pragma omp taskloop grainsize(2) reduction(+ : sum) firstprivate(first)
  for (int i = 0; i < loop->count; i++) {
    check_first(loop, &first);
    iterate(loop, i);
    sum += i;
  }
  CHECK_EQ(sum, 5 + (long)loop->count * (loop->count - 1) / 2);
}

static void run_last(Loop* loop, int first) {
  int last = -1;
  FORM(for (int i = 0; i < loop->count; i++), (last = i), lastprivate(last))
  CHECK_EQ(last, loop->count - 1);
}

/* Some iterations are not run; none is run twice. */
static void run_cancelled(Loop* loop) {
  loop->cancelled = 1;
#pragma omp taskloop grainsize(1)
  for (int i = 0; i < loop->count; i++) {
    iterate(loop, i);
    if (i == loop->count / 2) {
#pragma omp cancel taskgroup
    }
#pragma omp cancellation point taskgroup
  }
}

static void run_nogroup(Loop* loop, int first) {
  FORM(for (int i = 0; i < loop->count; i++), i, nogroup)
#pragma omp taskwait
  CHECK_EQ(value_of(&loop->ended), loop->count);
}

static void dispatch(Loop* loop) {
  const uint64_t base = UINT64_MAX - 1000;
  int first = 1;
  switch (loop->kind) {
    case kUntied: FORM(for (int i = 0; i < loop->count; i++), i, untied) break;
    case kNogroup: {
#pragma omp taskgroup
      run_nogroup(loop, first);
      break;
    }
    case kFinal: FORM(for (int i = 0; i < loop->count; i++), i, final(1)) break;
    case kPriority: FORM(for (int i = 0; i < loop->count; i++), i, priority(loop->count % 4)) break;
    case kReduction: run_reducing(loop, first); break;
    case kCollapse: run_collapsed(loop, first); break;
    case kDown: FORM(for (int64_t i = loop->count - 1; i >= 0; i--), (int)i, ) break;
    case kUnsigned:
      FORM(for (uint64_t i = base; i < base + 2 * (uint64_t)loop->count; i += 2), (int)((i - base) / 2), )
      break;
    case kLast: run_last(loop, first); break;
    case kCancel: run_cancelled(loop); break;
    default: FORM(for (int i = 0; i < loop->count; i++), i, if (loop->seed & 16)) break;
  }
}

static void check(Loop* loop) {
  long descendants = 0;
  for (int i = 0; i < loop->count; i++) {
    if (loop->cancelled) {
      CHECK_RANGE(loop->hits[i], 0, 1);
      continue;
    }
    CHECK_EQ(loop->hits[i], 1);
    const int deed = deed_of(loop, i);
    if (deed == kChildren || deed == kChildrenAwaited) descendants += children_of(loop, i);
    if (deed == kOrdered) descendants++;
  }
  if (!loop->cancelled) CHECK_EQ(value_of(&loop->descendants), descendants);
}

static void run(Loop* loop) {
  loop->threads = omp_get_max_threads();
#ifdef HAVE_EVENTS
  for (int i = 0; i < loop->count; i++) marline_event_init(&loop->events[i]);
#endif
  dispatch(loop);
  CHECK_EQ(omp_get_max_threads(), loop->threads);
  check(loop);
}

int main(int argc, char** argv) {
  const int loops = argc > 1 ? atoi(argv[1]) : 300, first = argc > 2 ? atoi(argv[2]) : 1;
  for (int n = first; n < first + loops; n++) {
    if (argc > 2) printf("seed %d\n", n);
    Loop* loop = make_loop(mix((uint64_t)n), kDepth, 0);
    if (n % 5 == 0) {
      run(loop); /* outside of parallel regions */
    } else {
#pragma omp parallel
#pragma omp single
      run(loop);
    }
    free(loop);
  }
  return 0;
}
