/* SPDX-License-Identifier: Apache-2.0
 *
 * Tasks with threadset(omp_pool) on free agents (OpenMP 6.0, section 14.8): what such a thread says of itself, which
 * tasks it leaves to the team, waits, dependences, events, cancellation, and threadprivate variables. The creator of a
 * task that must run on a free agent waits for it without a scheduling point: OMP_THREADS_RESERVE=free_agent(2)
 * promises one. Without an argument the variable is set; with `none` it forbids free agents.
 *
 * Covers: task(threadset:omp_pool)
 * Covers: taskloop(threadset:omp_pool)
 * Covers: omp_is_free_agent, omp_ancestor_is_free_agent, OMP_THREADS_RESERVE
 */
#include "../check.h"
#include <omp.h>
#include <sched.h>

int omp_is_free_agent(void);
int omp_ancestor_is_free_agent(int level);
int omp_is_free_agent_(void);
int omp_ancestor_is_free_agent_(const int* level);

enum { kUnassigned = -2 }; /* omp_unassigned_thread */

static int private_value = 7;
#pragma omp threadprivate(private_value)

static void wait_for(int* flag) {
  while (!__atomic_load_n(flag, __ATOMIC_ACQUIRE)) sched_yield();
}
static void set(int* flag) { __atomic_store_n(flag, 1, __ATOMIC_RELEASE); }

/* What a free agent says of itself. */
static void check_agent(int level, int threads) {
  CHECK_EQ(omp_is_free_agent(), 1);
  CHECK_EQ(omp_is_free_agent_(), 1);
  CHECK_EQ(omp_get_thread_num(), kUnassigned);
  CHECK_EQ(omp_get_level(), level);
  CHECK_EQ(omp_get_num_threads(), threads);
  CHECK_EQ(omp_in_explicit_task(), 1);
  CHECK_EQ(omp_get_ancestor_thread_num(level), kUnassigned);
  for (int at = -1; at <= level + 1; at++) {
    CHECK_EQ(omp_ancestor_is_free_agent(at), at == level);
    CHECK_EQ(omp_ancestor_is_free_agent_(&at), at == level);
  }
}

static void outside_of_regions(void) {
  int began = 0, child_ran = 0;
  CHECK_EQ(omp_is_free_agent(), 0);
  omp_set_max_active_levels(3);
#pragma omp task threadset(omp_pool) shared(began, child_ran)
  {
    check_agent(0, 1);
    CHECK_EQ(omp_get_max_active_levels(), 3); /* control variables are those of the creator */
    private_value++;                          /* the agent's own copy */
    set(&began);
#pragma omp task shared(child_ran) /* for the team: runs on the initial thread */
    {
      CHECK_EQ(omp_is_free_agent(), 0);
      CHECK_EQ(omp_get_thread_num(), 0);
      child_ran = 1;
    }
#pragma omp taskwait
    CHECK_EQ(child_ran, 1);
    check_agent(0, 1);
#pragma omp task if (0) /* at once, on this thread */
    CHECK_EQ(omp_is_free_agent(), 1);
  }
  wait_for(&began);
#pragma omp taskwait
  CHECK_EQ(child_ran, 1);
  CHECK_EQ(private_value, 7);
}

/* Both threads of the team are busy. */
static void in_region(void) {
  int began = 0, in_agent = 0;
#pragma omp parallel num_threads(2) shared(began, in_agent)
  {
#pragma omp master
    {
#pragma omp task threadset(omp_pool) shared(began, in_agent)
      {
        check_agent(1, omp_get_num_threads());
        in_agent = omp_get_num_threads();
        set(&began);
      }
    }
    wait_for(&began);
  }
  CHECK_EQ(in_agent, 2);
}

/* A region that an agent opens: the agent is its primary thread, and stays a free agent. */
static void region_on_agent(void) {
  int began = 0, primaries = 0, others = 0;
#pragma omp task threadset(omp_pool) shared(began, primaries, others)
  {
    set(&began);
#pragma omp parallel num_threads(2) shared(primaries, others)
    {
      CHECK_EQ(omp_is_free_agent(), omp_get_thread_num() == 0);
      CHECK_EQ(omp_ancestor_is_free_agent(0), 1);
      CHECK_EQ(omp_get_ancestor_thread_num(0), kUnassigned);
      if (omp_get_thread_num() == 0) {
#pragma omp atomic
        primaries++;
      } else {
#pragma omp atomic
        others++;
      }
#pragma omp barrier
      int sum = 0;
#pragma omp for
      for (int i = 0; i < 10; i++) sum += i;
      (void)sum;
    }
    check_agent(0, 1);
  }
  wait_for(&began);
#pragma omp taskwait
  CHECK_EQ(primaries, 1);
  CHECK_RANGE(others, 0, 1);
}

/* A detached task of the pool; its successors, of the pool and of the team, come after its event. */
static void ordered_and_detached(void) {
  int x = 0, began = 0;
  omp_event_handle_t event;
#pragma omp task threadset(omp_pool) depend(out : x) detach(event) shared(x, began)
  {
    CHECK_EQ(omp_is_free_agent(), 1);
    x = 1;
    set(&began);
  }
#pragma omp task threadset(omp_pool) depend(inout : x) shared(x) untied
  {
    CHECK_EQ(x, 2);
#pragma omp taskyield
    x = 3;
  }
#pragma omp task depend(inout : x) shared(x)
  {
    CHECK_EQ(omp_is_free_agent(), 0);
    CHECK_EQ(x, 3);
    x = 4;
  }
  wait_for(&began);
  x = 2;
  omp_fulfill_event(event);
#pragma omp taskwait
  CHECK_EQ(x, 4);
}

static void cancelled(void) {
  int began = 0, late = 0;
#pragma omp taskgroup
  {
#pragma omp task threadset(omp_pool) shared(began)
    {
      set(&began);
#pragma omp cancel taskgroup
      CHECK_EQ(omp_get_cancellation(), 0);
    }
    wait_for(&began);
#pragma omp taskwait
    for (int i = 0; i < 10; i++) {
#pragma omp task threadset(omp_pool) shared(late)
#pragma omp atomic
      late++;
    }
  }
  CHECK_EQ(late, omp_get_cancellation() ? 0 : 10);
}

/* A task reduction that begins on an agent, and one whose tasks are offered to agents. */
static void reductions(void) {
  int began = 0, sum = 0, all = 0;
#pragma omp task threadset(omp_pool) shared(began, sum)
  {
    set(&began);
    int own = 0;
#pragma omp taskgroup task_reduction(+ : own)
    {
      for (int i = 1; i <= 4; i++) {
#pragma omp task in_reduction(+ : own) if (i % 2) threadset(omp_pool)
        own += i;
      }
    }
    sum = own;
  }
  wait_for(&began);
#pragma omp taskwait
  CHECK_EQ(sum, 10);
#pragma omp parallel num_threads(2) shared(all)
#pragma omp single
#pragma omp taskloop threadset(omp_pool) reduction(+ : all) grainsize(3)
  for (int i = 0; i < 100; i++) all += i;
  CHECK_EQ(all, 4950);
}

static int refused; /* OMP_THREADS_RESERVE=structured */
static void without_agents(void) {
  int strangers = 0, ran = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskloop threadset(omp_pool) shared(strangers, ran) grainsize(1)
  for (int i = 0; i < 100; i++) {
    if (omp_is_free_agent() || omp_get_thread_num() < 0) strangers++;
#pragma omp atomic
    ran++;
  }
  CHECK_EQ(ran, 100);
  CHECK_EQ(strangers, 0);
}

int main(int argc, char** argv) {
  refused = argc > 1 && strcmp(argv[1], "none") == 0;
  if (refused) {
    without_agents();
    return 0;
  }
  for (int i = 0; i < 10; i++) {
    outside_of_regions();
    in_region();
    region_on_agent();
    ordered_and_detached();
    cancelled();
    reductions();
  }
  return 0;
}
