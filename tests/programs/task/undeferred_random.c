/* SPDX-License-Identifier: Apache-2.0
 *
 * Random trees of tasks against a serial reference. Each task is deferred, undeferred or final, tied or untied, with or
 * without a dependence; it creates tasks of all kinds, and waits for them, for a part of them or for none. A task
 * checks what it must find: its place (omp_in_final), its own control variables, the lock that it holds, and that the
 * tasks have ended that the constructs waited for. The sum over all tasks must be that of the serial walk. With
 * HAVE_EVENTS some tasks are also suspended until one of their children has run. Usage: undeferred_random [trees [first
 * seed]]
 *
 * Covers: task(if, final, untied, mergeable, depend:inout), taskwait, taskgroup, taskyield, omp_in_final
 */
#include "../check.h"
#include <omp.h>
#include <stdint.h>
#ifdef HAVE_EVENTS
#include "marline/marline.h"
#endif

enum { kMaxChildren = 5, kDepth = 5 };
typedef enum { kDeferred, kUndeferred, kFinal, kEither, kForms } Form;
typedef enum { kNothing, kWait, kGroup, kEvent, kWaits } Wait;

/* What a task is to do; a function of its seed alone. */
typedef struct {
  int children;
  Wait wait;
  int yields, locks, sets_threads;
} Plan;

typedef struct {
  Form form;
  int untied, depends, mergeable, copied;
} Kind;

static long sum;

static uint64_t mix(uint64_t x) { /* splitmix64 (Steele, Lea, Flood, 2014) */
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
  return x ^ x >> 31;
}

static uint64_t seed_of_child(uint64_t seed, int child) { return mix(seed ^ mix((uint64_t)child + 1)); }

static Plan plan_of(uint64_t seed, int depth) {
  uint64_t r = mix(seed);
  Plan plan = {depth == 0 ? 0 : (int)(r % (kMaxChildren + 1)), (Wait)(r >> 8 & 0xff) % kWaits, (r >> 16 & 7) == 0,
               (r >> 20 & 3) == 0, (r >> 24 & 3) == 0};
  return plan;
}

static Kind kind_of(uint64_t seed) {
  uint64_t r = mix(seed + 1);
  Kind kind = {(Form)(r & 0xff) % kForms, (r >> 8 & 3) == 0, (r >> 12 & 3) == 0, (r >> 16 & 3) == 0,
               (r >> 20 & 1) == 0};
  return kind;
}

static long value_of(uint64_t seed) { return (long)(mix(seed + 2) % 1000); }

static long serial_sum(uint64_t seed, int depth) {
  long result = value_of(seed);
  for (int i = 0; i < plan_of(seed, depth).children; i++) result += serial_sum(seed_of_child(seed, i), depth - 1);
  return result;
}

/* What a task is given. `ended` is set when its body ends; *below gets the values of the subtree. Null: nobody asks. */
typedef struct {
  uint64_t seed;
  int depth, in_final, threads;
  int* ended;
  long* below;
} Given;

static void run(Given given);

static void check_ended(const int* ended) { CHECK(__atomic_load_n(ended, __ATOMIC_ACQUIRE)); }

static void create(Given child, int in_final, char* ordered) {
  const Kind kind = kind_of(child.seed);
  const int now = kind.form == kUndeferred || (kind.form == kEither && (child.seed & 1));
  child.in_final = in_final || kind.form == kFinal;
#define STRING(...) #__VA_ARGS__
#define OMP(...) _Pragma(STRING(__VA_ARGS__))
/* GCC copies a structure with a function, and variables without one. */
#define CHILD(...)                                                                   \
  OMP(omp task if (!now) final(kind.form == kFinal) firstprivate(child) __VA_ARGS__) \
  run(child)
#define CHILD_OF_VARIABLES(...)                                                                             \
  OMP(omp task if (!now) final(kind.form == kFinal) firstprivate(seed, depth, final, threads, ended, below) \
          __VA_ARGS__)                                                                                      \
  run((Given){seed, depth, final, threads, ended, below})
  (void)ordered; /* Clang 14 does not see the use */
  const uint64_t seed = child.seed;
  const int depth = child.depth, final = child.in_final, threads = child.threads;
  int* ended = child.ended;
  long* below = child.below;
  if (kind.depends) {
    if (kind.untied) {
      CHILD(untied depend(inout : *ordered));
    } else {
      CHILD_OF_VARIABLES(depend(inout : *ordered));
    }
  } else if (kind.mergeable) {
    CHILD(mergeable);
  } else if (kind.untied) {
    CHILD_OF_VARIABLES(untied);
  } else if (kind.copied) {
    CHILD();
  } else {
    CHILD_OF_VARIABLES();
  }
  if ((now || in_final) && child.ended != NULL) check_ended(child.ended);
}

static void create_all(const Given* parent, int* ended, long* below) {
  char ordered = 0; /* an address for the children's dependences, which may outlive it */
  for (int i = 0; i < plan_of(parent->seed, parent->depth).children; i++) {
    Given child = {
        seed_of_child(parent->seed, i), parent->depth - 1, 0, parent->threads, ended != NULL ? &ended[i] : NULL, below};
    create(child, parent->in_final, &ordered);
    CHECK_EQ(omp_in_final(), parent->in_final);
    CHECK_EQ(omp_get_max_threads(), parent->threads);
  }
}

static void create_and_wait(const Given* given, const Plan* plan) {
  int ended[kMaxChildren] = {0};
  long inside = 0;
  if (plan->wait == kGroup) {
#pragma omp taskgroup
    create_all(given, NULL, &inside);
    CHECK_EQ(__atomic_load_n(&inside, __ATOMIC_RELAXED), serial_sum(given->seed, given->depth) - value_of(given->seed));
    if (given->below != NULL) __atomic_add_fetch(given->below, inside, __ATOMIC_RELAXED);
  } else if (plan->wait == kWait) {
    create_all(given, ended, given->below);
#pragma omp taskwait
    for (int i = 0; i < plan->children; i++) check_ended(&ended[i]);
  } else {
    create_all(given, NULL, given->below);
  }
}

#ifdef HAVE_EVENTS
static void wait_for_child(void) {
  marline_event_t event;
  marline_event_init(&event);
#pragma omp task shared(event)
  marline_event_fulfill(&event);
  marline_event_wait(&event);
}
#endif

static void run(Given given) {
  const Plan plan = plan_of(given.seed, given.depth);
  omp_nest_lock_t lock;
  CHECK_EQ(omp_in_final(), given.in_final);
  CHECK_EQ(omp_get_max_threads(), given.threads);
  if (plan.sets_threads) omp_set_num_threads(given.threads = 1 + (int)(given.seed % 7));
  if (plan.locks) {
    omp_init_nest_lock(&lock);
    omp_set_nest_lock(&lock);
  }
  if (plan.yields) {
#pragma omp taskyield
  }
  create_and_wait(&given, &plan);
#ifdef HAVE_EVENTS
  if (plan.wait == kEvent) wait_for_child();
#endif
  if (plan.locks) {
    CHECK_EQ(omp_test_nest_lock(&lock), 2); /* the task still owns it */
    omp_unset_nest_lock(&lock);
    omp_unset_nest_lock(&lock);
    omp_destroy_nest_lock(&lock);
  }
  CHECK_EQ(omp_get_max_threads(), given.threads);
  CHECK_EQ(omp_in_final(), given.in_final);
#pragma omp atomic
  sum += value_of(given.seed);
  if (given.below != NULL) __atomic_add_fetch(given.below, value_of(given.seed), __ATOMIC_RELAXED);
  if (given.ended != NULL) __atomic_store_n(given.ended, 1, __ATOMIC_RELEASE);
}

int main(int argc, char** argv) {
  const int trees = argc > 1 ? atoi(argv[1]) : 200, first = argc > 2 ? atoi(argv[2]) : 1;
  for (int tree = first; tree < first + trees; tree++) {
    if (argc > 2) printf("seed %d\n", tree);
    const uint64_t seed = mix((uint64_t)tree);
    sum = 0;
    CHECK(!omp_in_final());
#pragma omp parallel
#pragma omp single
    {
      Given root = {seed, kDepth, 0, omp_get_max_threads(), NULL, NULL};
      run(root);
    }
    CHECK_EQ(sum, serial_sum(seed, kDepth));
  }
  return 0;
}
