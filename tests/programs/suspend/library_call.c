/* SPDX-License-Identifier: Apache-2.0
 *
 * A library that holds a lock of its own while it calls the program back, and a progress hook: their code waits for
 * tasks, opens regions and orders tasks by dependences, while tasks of the program, which call the library too, wait to
 * run. None of these runs on a thread that is inside of the library, so the lock is never asked for by the thread that
 * has it.
 *
 * Covers: marline progress hooks, marline events, taskgroup, taskwait, task(depend:inout), task(untied)
 */
#include "../check.h"
#include <errno.h>
#include <marline/marline.h>
#include <omp.h>
#include <pthread.h>

enum { kCallers = 40, kEvents = 20, kPieces = 6 };

static pthread_mutex_t lock;
static int calls; /* that have ended */
static __thread int inside;

/* After a suspension: of another thread, perhaps. */
__attribute__((noinline)) static int is_inside(void) { return inside; }
__attribute__((noinline)) static void count_inside(int n) { inside += n; }

static int called(void) { return __atomic_load_n(&calls, __ATOMIC_RELAXED); }

/* The pieces one after the other, and each once. */
static void in_order(void) {
  int next = 0;
  for (int p = 0; p < kPieces; ++p) {
#pragma omp task untied depend(inout : next) shared(next) firstprivate(p)
    {
      CHECK_EQ(next, p);
#pragma omp taskyield
      ++next;
    }
  }
#pragma omp taskwait
  CHECK_EQ(next, kPieces);
}

static void in_group(void) {
  int sum = 0;
#pragma omp taskgroup
  for (int p = 0; p < kPieces; ++p) {
#pragma omp task shared(sum) firstprivate(p)
    {
#pragma omp taskgroup
      {
#pragma omp task shared(sum)
#pragma omp atomic
        sum += p;
      }
    }
  }
  CHECK_EQ(sum, kPieces * (kPieces - 1) / 2);
}

static void in_region(void) {
  int sum = 0;
#pragma omp parallel num_threads(3) reduction(+ : sum)
  {
    CHECK(marline_is_called_back() == 1 && marline_can_suspend() == 0);
#pragma omp barrier
#pragma omp single
    for (int p = 0; p < kPieces; ++p) {
#pragma omp task shared(sum)
      CHECK_EQ(marline_is_called_back(), 1);
    }
    sum += 1;
  }
  CHECK(sum >= 1 && sum <= 3);
}

/* The answers of the inquiry routines do not depend on whether the callback has come to a construct yet: a program that
 * allocates a place per thread asks before. */
struct answers {
  int threads, levels, limit, dynamic, parallel, active;
};

static struct answers ask(void) {
  struct answers answers = {omp_get_max_threads(), omp_get_max_active_levels(), omp_get_thread_limit(),
                            omp_get_dynamic(),     omp_in_parallel(),           omp_get_active_level()};
  return answers;
}

static void check_answers(const struct answers* now, const struct answers* before) {
  CHECK_EQ(now->threads, before->threads);
  CHECK_EQ(now->levels, before->levels);
  CHECK_EQ(now->limit, before->limit);
  CHECK_EQ(now->dynamic, before->dynamic);
  CHECK_EQ(now->parallel, before->parallel);
  CHECK_EQ(now->active, before->active);
}

static void call_back(int form) {
  CHECK_EQ(is_inside(), 0);
  count_inside(1);
  const struct answers before = ask();
  int size = 0;
#pragma omp parallel reduction(+ : size)
  size++;
  CHECK_RANGE(size, 1, before.threads);
  const struct answers after = ask();
  check_answers(&after, &before);
  CHECK(marline_is_called_back() == 1 && marline_can_suspend() == 0);
  CHECK_EQ(omp_get_thread_num(), 0);
  switch (form % 3) {
    case 0: in_order(); break;
    case 1: in_group(); break;
    default: in_region();
  }
#pragma omp task
  __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED); /* not waited for: done when the library goes on */
  count_inside(-1);
}

static void call_library(int form) {
  marline_library_call_t call;
  const int before = called();
  CHECK_EQ(pthread_mutex_lock(&lock), 0); /* EDEADLK where the thread has it */
  omp_set_num_threads(2 + form % 4);
  omp_set_max_active_levels(1 + form % 3);
  const struct answers outside = ask();
  marline_library_enter(&call);
  const struct answers inside_of_call = ask();
  check_answers(&inside_of_call, &outside);
  call_back(form);
  marline_library_leave(&call);
  CHECK(called() > before);
  CHECK_EQ(pthread_mutex_unlock(&lock), 0);
}

static marline_hook_t* hook;
static marline_event_t* waiting; /* taken by the hook; the tasks take turns */

static int poll_waiting(void* unused) {
  (void)unused;
  marline_event_t* event = __atomic_exchange_n(&waiting, NULL, __ATOMIC_ACQ_REL);
  if (event == NULL) return 0;
  call_back(called());
  marline_progress_add(hook, -1);
  marline_event_fulfill(event);
  return 1;
}

static void wait_for_hook(void) {
  marline_event_t event;
  marline_event_init(&event);
  marline_progress_add(hook, 1);
  __atomic_store_n(&waiting, &event, __ATOMIC_RELEASE);
  marline_event_wait(&event);
  CHECK_EQ(is_inside(), 0);
}

int main(void) {
  pthread_mutexattr_t checks;
  pthread_mutexattr_init(&checks);
  pthread_mutexattr_settype(&checks, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_init(&lock, &checks);
  hook = marline_progress_register("waiting", poll_waiting, NULL);
  CHECK(hook != NULL && marline_is_called_back() == 0);
  call_library(0);
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < kCallers; ++i) {
#pragma omp task untied firstprivate(i)
      {
        CHECK_EQ(is_inside(), 0);
#pragma omp taskyield
        call_library(i);
        CHECK(is_inside() == 0 && marline_is_called_back() == 0);
      }
    }
    int turn;
    for (int i = 0; i < kEvents; ++i) {
#pragma omp task untied depend(inout : turn)
      wait_for_hook();
    }
    (void)turn;
  }
  CHECK_EQ(calls, 1 + kCallers + kEvents);
  marline_progress_unregister(hook);
  return 0;
}
