/* SPDX-License-Identifier: Apache-2.0
 *
 * Target tasks that a library claims as they are created (claims_provider.h), among tasks of the host, in random graphs
 * against a sequential model, as in graph.c: each task must find the versions that its predecessors have left. All
 * kinds of dependences, waits of all kinds, tasks that create graphs of their own, several threads that create at once,
 * cancellation, persistent graphs, and 100,000 unfinished tasks. */
#include "claims_provider.h"

#include <marline/marline.h>

#include <omp.h>
#include <sched.h>
#include <string.h>

#define ADDRESSES 12
#define TASKS 200

enum kind { WRITER, READER, MEMBER, SET_MEMBER, SET_READER, BARRIER, INNER, KINDS };

typedef struct graph graph_t;

typedef struct op {
  graph_t* graph;
  enum kind kind;
  int a, b;
  long expect_a, expect_b;
  uint64_t key;
  int done; /* times that it has run */
} op_t;

struct graph {
  long version[ADDRESSES], members[ADDRESSES], sets[ADDRESSES];
  long model_version[ADDRESSES], model_members[ADDRESSES], model_sets[ADDRESSES];
  bool inside[ADDRESSES]; /* a member of the mutexinoutset is running is running */
  op_t ops[TASKS];
  int count, depth;
  uint64_t seed;
};

static void one_graph(graph_t* graph);

static void run_inner(op_t* op) {
  graph_t* inner = calloc(1, sizeof *inner);
  inner->seed = op->key;
  inner->depth = op->graph->depth + 1;
  one_graph(inner);
#pragma omp taskwait
  free(inner);
}

static void run_op(op_t* op) {
  graph_t* g = op->graph;
  CHECK(op->done == 0, "a task has run twice");
  op->done = 1;
  switch (op->kind) {
    case WRITER:
    case READER:
      CHECK(g->version[op->a] == op->expect_a, "address %d: %ld, model %ld", op->a, g->version[op->a], op->expect_a);
      CHECK(op->a == op->b || g->version[op->b] == op->expect_b, "address %d read: %ld, model %ld", op->b,
            g->version[op->b], op->expect_b);
      if (op->kind == WRITER) g->version[op->a] = op->expect_a + 1;
      break;
    case MEMBER:
      CHECK(!__atomic_exchange_n(&g->inside[op->a], true, __ATOMIC_RELAXED), "two members of set %d at once", op->a);
      if (op->key % 4 == 0) sched_yield();
      ++g->members[op->a];
      __atomic_store_n(&g->inside[op->a], false, __ATOMIC_RELAXED);
      break;
    case SET_MEMBER: __atomic_fetch_add(&g->sets[op->a], 1, __ATOMIC_RELAXED); break;
    case SET_READER: {
      long seen = __atomic_load_n(&g->sets[op->a], __ATOMIC_RELAXED);
      CHECK(seen == op->expect_a, "set %d: %ld, model %ld", op->a, seen, op->expect_a);
      break;
    }
    case BARRIER:
      for (int i = 0; i < op - g->ops; ++i) {
        CHECK(g->ops[i].kind == INNER || g->ops[i].done, "omp_all_memory: task %d has not run", i);
      }
      break;
    default: run_inner(op);
  }
}

static int depend_list(const op_t* op, marline_dependence_t list[2]) {
  graph_t* g = op->graph;
  switch (op->kind) {
    case WRITER:
      list[0] = (marline_dependence_t){&g->version[op->a], MARLINE_INOUT};
      list[1] = (marline_dependence_t){&g->version[op->b], MARLINE_IN};
      return 2;
    case READER:
      list[0] = (marline_dependence_t){&g->version[op->a], MARLINE_IN};
      list[1] = (marline_dependence_t){&g->version[op->b], MARLINE_IN};
      return 2;
    case MEMBER: list[0] = (marline_dependence_t){&g->members[op->a], MARLINE_MUTEXINOUTSET}; return 1;
    case SET_MEMBER: list[0] = (marline_dependence_t){&g->sets[op->a], MARLINE_INOUTSET}; return 1;
    case SET_READER: list[0] = (marline_dependence_t){&g->sets[op->a], MARLINE_IN}; return 1;
    case BARRIER: list[0] = (marline_dependence_t){NULL, MARLINE_INOUT}; return 1;
    default: return 0;
  }
}

static void spawn(op_t* op, bool on_target) {
  marline_dependence_t list[2];
  int count = depend_list(op, list);
  if (count != 0) marline_task_depend(list, (size_t)count);
  if (on_target) {
#pragma omp target nowait firstprivate(op)
    run_op(op);
  } else {
#pragma omp task untied firstprivate(op) priority((int)(op -> key % 4))
    {
      run_op(op);
      if (op->key % 3 == 0) {
#pragma omp taskyield
      }
    }
  }
}

static void draw(graph_t* g, op_t* op, uint64_t* state) {
  op->graph = g;
  op->key = next_random(state);
  op->a = below(state, ADDRESSES);
  op->b = below(state, ADDRESSES);
  int drawn = below(state, 64);
  op->kind = drawn == 0 ? BARRIER : drawn == 1 ? INNER : (enum kind)(drawn % INNER);
  if (op->kind == INNER && g->depth > 0) op->kind = WRITER;
  bool of_set = op->kind == SET_READER;
  op->expect_a = of_set ? g->model_sets[op->a] : g->model_version[op->a];
  op->expect_b = g->model_version[op->b];
  g->model_version[op->a] += op->kind == WRITER;
  g->model_members[op->a] += op->kind == MEMBER;
  g->model_sets[op->a] += op->kind == SET_MEMBER;
}

static void wait_somehow(graph_t* g, uint64_t key, int count) {
  int a = (int)(key / 64 % ADDRESSES);
  if (key % 31 == 0) {
#pragma omp taskwait depend(in : g->version[a])
    CHECK(g->version[a] == g->model_version[a], "taskwait depend: %ld, model %ld", g->version[a], g->model_version[a]);
  } else if (key % 61 == 0) {
#pragma omp taskwait
    for (int i = 0; i < count; ++i) CHECK(g->ops[i].done, "taskwait: task %d has not run", i);
  }
}

static void one_graph(graph_t* g) {
  uint64_t state = g->seed;
  g->count = g->depth == 0 ? TASKS : TASKS / 8;
  int half = g->count / 2;
#pragma omp taskgroup
  for (int i = 0; i < half; ++i) {
    draw(g, &g->ops[i], &state);
    spawn(&g->ops[i], g->ops[i].kind != INNER && below(&state, 4) != 0);
    wait_somehow(g, g->ops[i].key, i + 1);
  }
  for (int i = 0; i < half; ++i) CHECK(g->ops[i].done, "taskgroup: task %d has not run", i);
  for (int i = half; i < g->count; ++i) {
    draw(g, &g->ops[i], &state);
    spawn(&g->ops[i], g->ops[i].kind != INNER && below(&state, 4) != 0);
    wait_somehow(g, g->ops[i].key, i + 1);
  }
}

static void check_graph(const graph_t* g) {
  for (int i = 0; i < g->count; ++i) CHECK(g->ops[i].done, "at the end: task %d has not run", i);
  for (int i = 0; i < ADDRESSES; ++i) {
    CHECK(g->version[i] == g->model_version[i], "address %d: %ld, model %ld", i, g->version[i], g->model_version[i]);
    CHECK(g->members[i] == g->model_members[i], "set %d: %ld, model %ld", i, g->members[i], g->model_members[i]);
    CHECK(g->sets[i] == g->model_sets[i], "inoutset %d: %ld, model %ld", i, g->sets[i], g->model_sets[i]);
  }
}

/* The tasks that a task in the middle of a chain cancels do not run, claimed or not. */
static void cancelled_chain(uint64_t seed) {
  enum { LENGTH = 40 };
  long x = 0;
  long* cell = &x;
  int middle = (int)(seed % LENGTH);
#pragma omp taskgroup
  for (int i = 0; i < LENGTH; ++i) {
    if (i == middle) {
#pragma omp task depend(inout : cell[0])
      marline_taskgroup_cancel_later();
    } else {
      marline_dependence_t at = {cell, MARLINE_INOUT};
      marline_task_depend(&at, 1);
#pragma omp target nowait firstprivate(cell)
      ++*cell;
    }
  }
  CHECK(x == middle, "%ld tasks of a cancelled chain have run, expected %d", x, middle);
}

/* Target tasks of a final task are part of it, and are not reported to the library. */
static void in_final_task(void) {
  long x = 0;
  long* cell = &x;
  int level = -1;
#pragma omp task final(1) shared(x, level) firstprivate(cell)
  {
#pragma omp target nowait firstprivate(cell)
    ++*cell;
    level = omp_in_final() ? (int)x : -1;
  }
#pragma omp taskwait
  CHECK(level == 1, "a target task of a final task has not run at once");
}

static void produce(long* cells, int first) {
  for (int i = 0; i < 50; ++i) {
    long* cell = &cells[(first + i) % 8];
    marline_dependence_t at = {cell, MARLINE_INOUT};
    marline_task_depend(&at, 1);
    if (i % 4 == 0) {
#pragma omp task firstprivate(cell)
      ++*cell;
    } else {
#pragma omp target nowait firstprivate(cell)
      ++*cell;
    }
  }
}

/* Tasks that share their dependences create claimed ones at once. */
static void several_producers(void) {
  long cells[8] = {0}, sum = 0;
#pragma omp taskgroup
#pragma omp task shared(cells)
  {
    marline_depend_share();
    for (int p = 0; p < 4; ++p) {
#pragma omp task shared(cells) firstprivate(p)
      produce(cells, p);
    }
  }
  for (int i = 0; i < 8; ++i) sum += cells[i];
  CHECK(sum == 200, "%ld tasks of several producers have run, expected 200", sum);
}

/* A random iteration of a persistent graph, and what the tasks of each must find. */
#define STEPS 40
#define ITERATIONS 8

typedef struct step {
  long* version; /* of all addresses */
  int a, b;
  /* The last: is_repeated: the task counts its runs itself, in place of using the iteration's number. */
  bool writes, on_target, is_repeated;
  long expect_a, expect_b; /* in the first iteration; each one adds `more` */
  long more_a, more_b;
  long runs;
} step_t;

static void run_step(step_t* step, long iteration) {
  long runs = __atomic_fetch_add(&step->runs, 1, __ATOMIC_RELAXED);
  if (step->is_repeated) iteration = runs;
  long *a = &step->version[step->a], *b = &step->version[step->b];
  long expect_a = step->expect_a + iteration * step->more_a, expect_b = step->expect_b + iteration * step->more_b;
  CHECK(*a == expect_a, "iteration %ld, address %d: %ld, model %ld", iteration, step->a, *a, expect_a);
  CHECK(step->a == step->b || *b == expect_b, "iteration %ld, address %d read: %ld, model %ld", iteration, step->b, *b,
        expect_b);
  if (step->writes) *a = expect_a + 1;
}

static void spawn_step(step_t* step, long iteration) {
  marline_dependence_t list[2] = {{&step->version[step->a], step->writes ? MARLINE_INOUT : MARLINE_IN},
                                  {&step->version[step->b], MARLINE_IN}};
  marline_task_depend(list, 2);
  if (step->on_target) {
#pragma omp target nowait firstprivate(step, iteration)
    run_step(step, iteration);
  } else {
#pragma omp task firstprivate(step, iteration)
    run_step(step, iteration);
  }
}

/* In iterations that differ, a reader comes in between. Without host tasks, and if all tasks are claimed, whole
 * iterations are reported.
 */
static void persistent(uint64_t seed, int mode, bool hosts, bool differs) {
  static step_t steps[STEPS + 1];
  long version[ADDRESSES] = {0}, writers[ADDRESSES] = {0};
  uint64_t state = seed;
  for (int i = 0; i <= STEPS; ++i) {
    step_t* step = &steps[i];
    *step = (step_t){.version = version, .a = below(&state, ADDRESSES), .b = below(&state, ADDRESSES)};
    step->writes = i < STEPS && below(&state, 2) == 0;
    step->on_target = !hosts || below(&state, 8) != 0;
    step->is_repeated = mode == MARLINE_GRAPH_REPLAY;
    step->expect_a = writers[step->a];
    step->expect_b = writers[step->b];
    writers[step->a] += step->writes;
  }
  for (int i = 0; i <= STEPS; ++i) {
    steps[i].more_a = writers[steps[i].a];
    steps[i].more_b = writers[steps[i].b];
  }
  provider.claims_all = !hosts;
  long before = provider.iterations;
  MARLINE_GRAPH_FOR(int it = 0, it < ITERATIONS, ++it, mode) {
    for (int i = 0; i < STEPS; ++i) spawn_step(&steps[i], it);
    if (differs && mode != MARLINE_GRAPH_REPLAY && it == ITERATIONS / 2) spawn_step(&steps[STEPS], it);
  }
  provider.claims_all = false;
  for (int i = 0; i < ADDRESSES; ++i) {
    CHECK(version[i] == ITERATIONS * writers[i], "address %d: %ld, model %ld", i, version[i], ITERATIONS * writers[i]);
  }
  if (!hosts && !differs && provider.claimed_in_graph > 0)
    CHECK(provider.iterations > before, "no iteration was told in mode %d", mode);
}

static void all_persistent(uint64_t seed) {
  const int modes[] = {MARLINE_GRAPH_BARRIER, MARLINE_GRAPH_NOWAIT, MARLINE_GRAPH_REPLAY};
  for (int m = 0; m < 3; ++m) {
    for (int kind = 0; kind < 4; ++kind) persistent(seed * 12 + (uint64_t)(m * 4 + kind), modes[m], kind & 1, kind & 2);
  }
}

/* So many unfinished tasks, of which none can run. */
static void many(int count) {
  enum { CHAINS = 4096 };
  long* cells = calloc(CHAINS + 1, sizeof *cells);
  provider_close(true);
  for (int i = 0; i < count; ++i) {
    long* cell = &cells[i % CHAINS];
    marline_dependence_t at[2] = {{cell, MARLINE_INOUT}, {&cells[CHAINS], MARLINE_IN}};
    marline_task_depend(at, 2);
#pragma omp target nowait firstprivate(cell)
    ++*cell;
  }
  provider_close(false);
#pragma omp taskwait
  long sum = 0;
  for (int i = 0; i < CHAINS; ++i) sum += cells[i];
  CHECK(sum == count, "%ld of %d tasks have run", sum, count);
  CHECK(provider.most_under_way >= count / 2, "only %ld tasks were under way", provider.most_under_way);
  free(cells);
}

/* Checks that every kind of event of such a run has been reported to the library: the limits of MARLINE_MAX_TASKS
 * only if the run has `limits`, priorities that are passed on only if it has `priorities`. */
static void check_told(bool limits, bool priorities) {
  CHECK(provider.claimed == provider.run + provider.skipped + provider.left,
        "%ld were claimed, %ld have run, %ld were left", provider.claimed, provider.run, provider.left);
  CHECK(provider.left > 0, "no task was left to the runtime");
  CHECK(provider.ran_early > 0, "no task has run ahead");
  CHECK(priorities || (provider.claimed_in_graph > 0 && provider.told_in_graph > provider.claimed_in_graph),
        "%ld tasks of graphs were told, %ld of them claimed", provider.told_in_graph, provider.claimed_in_graph);
  CHECK(priorities || (provider.iterations > 0 && provider.graph_tasks > 0), "no iteration was told");
  CHECK(provider.cancels > 0 && provider.skipped > 0, "%ld cancellations were told, %ld tasks cancelled",
        provider.cancels, provider.skipped);
  for (int kind = MARLINE_WAIT_TASKWAIT; kind <= MARLINE_WAIT_FOR_WORK; ++kind) {
    CHECK(waits_told(kind) > 0 || (kind == MARLINE_WAIT_THROTTLE && !limits), "no wait of kind %d was told", kind);
  }
  CHECK(provider.raises > 0 || !priorities, "no priority was raised");
}

/* SEED ROUNDS UNDER_WAY [limits|priorities] */
int main(int argc, char** argv) {
  uint64_t seed = argument(argc, argv, 1, 1), rounds = argument(argc, argv, 2, 20);
  int count = (int)argument(argc, argv, 3, 100000);
  const char* mode = argc > 4 ? argv[4] : "";
  provider_start();
  for (uint64_t round = 0; round < rounds; ++round) {
#pragma omp parallel
    {
      graph_t* graph = calloc(1, sizeof *graph);
      graph->seed = (seed * 1000003u + round) * 64 + (uint64_t)omp_get_thread_num();
      one_graph(graph);
#pragma omp barrier
      check_graph(graph);
      free(graph);
#pragma omp single
      {
        cancelled_chain(seed + round);
        all_persistent(seed + round);
        several_producers();
        in_final_task();
      }
    }
    provider_forget();
  }
#pragma omp parallel
#pragma omp single
  many(count);
  provider_forget();
  provider_stop();
  printf("%ld claimed, %ld of them run before they were ready, %ld cancelled, %ld in graphs, %ld raises; waits",
         provider.claimed, provider.ran_early, provider.skipped, provider.told_in_graph, provider.raises);
  for (int kind = MARLINE_WAIT_TASKWAIT; kind <= MARLINE_WAIT_FOR_WORK; ++kind) printf(" %ld", waits_told(kind));
  putchar('\n');
  fflush(stdout);
  check_told(strcmp(mode, "limits") == 0, strcmp(mode, "priorities") == 0);
  return 0;
}
