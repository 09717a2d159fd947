/* SPDX-License-Identifier: Apache-2.0
 *
 * The counters of discovery are exact on known graphs, with and without the filters of edges (MARLINE_EDGES). Runs with
 * MARLINE_DISCOVERY=first: nothing has completed while the graph is discovered, and nothing runs before its creator
 * waits or ends.
 *
 * Covers: marline discovery counters, task(if, detach, firstprivate), taskgroup
 */
#include "../check.h"
#include <marline/marline.h>
#include <omp.h>

static char x, y, ran_early;
static int filtered, value;

static marline_counters_t counters(void) {
  marline_counters_t now;
  marline_counters_read(&now, sizeof now);
  return now;
}

/* A task with one or two accesses, in this order. */
static void task(void* a, marline_depend_type_t type_a, void* b, marline_depend_type_t type_b) {
  const marline_dependence_t list[] = {{a, type_a}, {b, type_b}};
  marline_task_depend(list, b ? 2 : 1);
#pragma omp task
  __atomic_fetch_add(&value, 1, __ATOMIC_RELAXED);
}

struct Graph {
  const char* name;
  void (*create)(void);
  long tasks, dependences;
  long edges, duplicate, transitive, nodes; /* with all filters */
  long edges_without;
};

static void chain(void) {
  for (int i = 0; i < 10; i++) task(&x, MARLINE_INOUT, NULL, 0);
}

static void readers(void) {
  task(&x, MARLINE_OUT, NULL, 0);
  for (int i = 0; i < 9; i++) /* more than an entry holds in place */
    task(&x, MARLINE_IN, NULL, 0);
  task(&x, MARLINE_OUT, NULL, 0);
}

static void twice(void) {
  task(&x, MARLINE_OUT, &y, MARLINE_OUT);
  task(&x, MARLINE_IN, &y, MARLINE_IN);
}

static void one_address_twice(void) {
  task(&x, MARLINE_IN, &x, MARLINE_OUT);
  task(&x, MARLINE_OUT, &x, MARLINE_IN);
}

/* The first comes before the second, and the second before the third, which names both. */
static void detour(void) {
  task(&x, MARLINE_OUT, NULL, 0);
  task(&x, MARLINE_IN, &y, MARLINE_OUT);
  task(&y, MARLINE_IN, &x, MARLINE_IN);
}

static void sets(void) {
  for (int i = 0; i < 3; i++) task(&x, MARLINE_INOUTSET, NULL, 0);
  for (int i = 0; i < 4; i++) task(&x, MARLINE_IN, NULL, 0);
}

/* Each set waits for all of the one before it, and for no other. */
static void three_sets(void) {
  sets();
  for (int i = 0; i < 5; i++) task(&x, MARLINE_INOUTSET, NULL, 0);
  task(&x, MARLINE_OUT, NULL, 0);
}

static void check_graph(const struct Graph* graph) {
  marline_counters_t before = counters();
  graph->create();
  marline_counters_t now = counters();
  CHECK_EQ(value, 0);
#pragma omp taskwait
  CHECK_EQ(value, graph->tasks);
  value = 0;
  printf("%s\n", graph->name);
  CHECK_EQ(now.tasks - before.tasks, graph->tasks);
  CHECK_EQ(now.dependences - before.dependences, graph->dependences);
  CHECK_EQ(now.lookups - before.lookups, graph->dependences);
  CHECK_EQ(now.pruned - before.pruned, 0);
  CHECK_EQ(now.edges - before.edges, filtered ? graph->edges : graph->edges_without);
  CHECK_EQ(now.duplicate - before.duplicate, filtered ? graph->duplicate : 0);
  CHECK_EQ(now.transitive - before.transitive, filtered ? graph->transitive : 0);
  CHECK_EQ(now.nodes - before.nodes, filtered ? graph->nodes : 0);
}

/* A table starts anew in each generating task. */
static void check_in_a_task(const struct Graph* graph) {
#pragma omp task firstprivate(graph)
  check_graph(graph);
#pragma omp taskwait
}

static void check_table(void) {
  static char many[1000];
  marline_counters_t before = counters();
  for (int i = 0; i < 1000; i++) task(&many[i], MARLINE_OUT, NULL, 0);
#pragma omp taskwait
  value = 0;
  marline_counters_t now = counters();
  CHECK_EQ(now.edges - before.edges, 0);
  CHECK_RANGE(now.rebuilds - before.rebuilds, 1, 10);
  /* Where the array lies decides how many; linear probing in a table three quarters full takes 8.5 on average. */
  CHECK_RANGE(now.probes - before.probes, 1, 10000);
  /* All have completed: the same chain again, on a first address, has no task to wait for. */
  task(&many[0], MARLINE_OUT, NULL, 0);
#pragma omp taskwait
  value = 0;
  CHECK_EQ(counters().pruned - now.pruned, 1);
}

static void check_sizes(void) {
  struct {
    marline_counters_t counters;
    uint64_t more;
  } later = {.more = 1};
  marline_counters_read(&later.counters, sizeof later);
  CHECK_EQ(later.more, 0);
  CHECK(later.counters.tasks > 0);
  uint64_t two[3] = {0, 0, 42};
  marline_counters_read((marline_counters_t*)two, 2 * sizeof two[0]);
  CHECK_EQ(two[1], later.counters.dependences);
  CHECK_EQ(two[2], 42);
}

static void early(char* flag) {
  if (!__atomic_load_n(flag, __ATOMIC_RELAXED)) __atomic_store_n(&ran_early, 1, __ATOMIC_RELAXED);
}

/* Without a wait in the creator: its end, a taskgroup's end, a detached creator's end, an undeferred creator's. */
static void check_first(void) {
  char created = 0;
#pragma omp task shared(created)
  {
    for (int i = 0; i < 5; i++) {
#pragma omp task shared(created)
      early(&created);
    }
    __atomic_store_n(&created, 1, __ATOMIC_RELAXED);
  }
#pragma omp taskwait
  char grouped = 0;
#pragma omp taskgroup
  {
#pragma omp task shared(grouped)
    early(&grouped);
    __atomic_store_n(&grouped, 1, __ATOMIC_RELAXED);
  }
  omp_event_handle_t event;
#pragma omp task detach(event)
  {
#pragma omp task firstprivate(event)
    omp_fulfill_event(event);
  }
#pragma omp taskwait
  char outer = 0;
#pragma omp task shared(outer)
  early(&outer);
#pragma omp task if (0)
  {
#pragma omp task
    __atomic_fetch_add(&value, 1, __ATOMIC_RELAXED);
  }
  __atomic_store_n(&outer, 1, __ATOMIC_RELAXED);
#pragma omp taskwait
  CHECK_EQ(ran_early, 0);
}

int main(void) {
  static const struct Graph graphs[] = {
      {"chain", chain, 10, 10, 9, 0, 0, 0, 9},
      {"readers", readers, 11, 11, 18, 0, 0, 0, 18},
      {"twice", twice, 2, 4, 1, 1, 0, 0, 2},
      {"one address twice", one_address_twice, 2, 4, 1, 0, 0, 0, 1},
      {"detour", detour, 3, 5, 2, 0, 1, 0, 3},
      {"sets", sets, 7, 7, 7, 0, 0, 1, 12},
      {"three sets", three_sets, 13, 13, 3 + 4 + 4 + 5 + 5, 0, 0, 2, 3 * 4 + 4 * 5 + 5},
  };
  const char* edges = getenv("MARLINE_EDGES");
  filtered = !edges || strcmp(edges, "none") != 0;
#pragma omp parallel
#pragma omp single
  {
    for (size_t i = 0; i < sizeof graphs / sizeof *graphs; i++) check_in_a_task(&graphs[i]);
    check_table();
    check_sizes();
    check_first();
  }
  return 0;
}
