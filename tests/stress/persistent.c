/* SPDX-License-Identifier: Apache-2.0
 *
 * Random persistent graphs against a sequential model. A round draws the steps of an iteration (tasks of all kinds with
 * random dependences of all types, waits) and runs them in one of the modes; now and then an iteration differs from the
 * record at a random place. The model foretells for each access how many accesses to its address must have ended before
 * it: if an order is lost, a task finds fewer (or ThreadSanitizer sees the race on the plain data); if a task runs
 * twice or not at all, the sums at the end are wrong. With a third argument the same tasks are made without a graph, in
 * more iterations: that tests ordinary discovery of dependences. */
#include "stress.h"

#include <marline/marline.h>
#include <omp.h>
#include <string.h>

enum { kAddresses = 10, kSteps = 48, kIterations = 48, kRecorded = 12, kAccesses = 4 };

enum Kind {
  kPlain,
  kYields,
  kParent,   /* its child outlives it */
  kSuspends, /* waits for its child */
  kDetached,
  kGrouped, /* runs runs in a taskgroup of its own */
  kUndeferred,
  kWaitDepend,
  kWait,
  kAllMemory,
  kKinds
};

struct Access {
  int address;
  marline_depend_type_t type;
  long before; /* accesses to the address that must have ended */
};

struct Step {
  enum Kind kind;
  int count;
  struct Access access[kAddresses];
  int drops; /* tells the runtime that the next step in the record is gone for good */
};

struct Iteration {
  int count;
  struct Step step[kSteps + 1];
};

static struct Iteration iterations[kIterations];
static int iteration_count, addresses, mode, ordinary;

static char location[kAddresses];
static long done[kAddresses];      /* accesses that have ended */
static long plain[kAddresses];     /* written by tasks that are alone */
static long exclusive[kAddresses]; /* increased without atomics by mutexinoutset members */
static long children;

/* The model. */

static long total[kAddresses], exclusive_total[kAddresses], children_total;
static long per_iteration[kAddresses];
static struct {
  marline_depend_type_t type;
  long before;
} phase[kAddresses];

static void foresee_access(struct Access* access, int enters) {
  int a = access->address;
  int joins = access->type != MARLINE_INOUT && phase[a].type == access->type;
  if (!enters && access->type == MARLINE_MUTEXINOUTSET) joins = 0; /* undeferred: waits for the whole set */
  access->before = joins ? phase[a].before : total[a];
  if (enters && !joins) {
    phase[a].type = access->type;
    phase[a].before = total[a];
  }
}

static void foresee(struct Step* step) {
  if (step->kind == kWait) return;
  int enters = step->kind != kUndeferred && step->kind != kWaitDepend;
  for (int i = 0; i < step->count; ++i) foresee_access(&step->access[i], enters);
  for (int i = 0; i < step->count; ++i) {
    ++total[step->access[i].address];
    if (step->access[i].type == MARLINE_MUTEXINOUTSET) ++exclusive_total[step->access[i].address];
  }
  if (step->kind == kParent) ++children_total;
}

/* The tasks. */

static void begin_accesses(int n, int s) {
  const struct Step* step = &iterations[n].step[s];
  for (int i = 0; i < step->count; ++i) {
    const struct Access* access = &step->access[i];
    int a = access->address;
    long ended = __atomic_load_n(&done[a], __ATOMIC_ACQUIRE);
    if (mode == MARLINE_GRAPH_REPLAY) ended %= per_iteration[a];
    CHECK(ended >= access->before, "iteration %d step %d: %ld accesses to %d, model %ld", n, s, ended, a,
          access->before);
    if (access->type == MARLINE_INOUT) {
      CHECK(ended == access->before, "iteration %d step %d: %ld accesses to %d, model %ld", n, s, ended, a,
            access->before);
      plain[a] = (long)n * 1000 + s;
    } else {
      CHECK(plain[a] >= 0, "impossible");
    }
  }
}

static void end_accesses(int n, int s) {
  const struct Step* step = &iterations[n].step[s];
  for (int i = 0; i < step->count; ++i) {
    const struct Access* access = &step->access[i];
    if (access->type == MARLINE_MUTEXINOUTSET) exclusive[access->address] += 1;
    if (access->type == MARLINE_INOUT) CHECK(plain[access->address] == (long)n * 1000 + s, "written by another task");
    __atomic_fetch_add(&done[access->address], 1, __ATOMIC_ACQ_REL);
  }
}

static void suspend_for_child(void) {
  marline_event_t event = MARLINE_EVENT_INIT;
#pragma omp task shared(event)
  marline_event_fulfill(&event);
  marline_event_wait(&event);
}

static void say_dependences(const struct Step* step) {
  marline_dependence_t list[kAccesses];
  if (step->kind == kAllMemory) {
    list[0] = (marline_dependence_t){NULL, MARLINE_INOUT};
    marline_task_depend(list, 1);
    return;
  }
  for (int i = 0; i < step->count; ++i) {
    list[i].address = &location[step->access[i].address];
    list[i].type = step->access[i].type;
  }
  if (step->count) marline_task_depend(list, (size_t)step->count);
}

static void create_detached(int n, int s) {
  omp_event_handle_t event = (omp_event_handle_t)0;
#pragma omp task detach(event) firstprivate(n, s)
  {
    begin_accesses(n, s);
#pragma omp task firstprivate(n, s, event)
    {
      end_accesses(n, s);
      omp_fulfill_event(event);
    }
  }
}

static void create(int n, int s) {
  switch (iterations[n].step[s].kind) {
    case kYields:
#pragma omp task untied firstprivate(n, s) priority(s % 8)
    {
      begin_accesses(n, s);
#pragma omp taskyield
      end_accesses(n, s);
    } break;
    case kParent:
#pragma omp task firstprivate(n, s)
    {
      begin_accesses(n, s);
#pragma omp task
      __atomic_fetch_add(&children, 1, __ATOMIC_RELAXED);
      end_accesses(n, s);
    } break;
    case kSuspends:
#pragma omp task firstprivate(n, s)
    {
      begin_accesses(n, s);
      suspend_for_child();
      end_accesses(n, s);
    } break;
    case kDetached: create_detached(n, s); break;
    case kUndeferred:
#pragma omp task if (0) firstprivate(n, s)
    {
      begin_accesses(n, s);
      end_accesses(n, s);
    } break;
    default:
#pragma omp task firstprivate(n, s)
    {
      begin_accesses(n, s);
      end_accesses(n, s);
    }
  }
}

static void wait_for(int n, int s) {
  const struct Step* step = &iterations[n].step[s];
  int a = step->access[0].address;
  if (step->access[0].type == MARLINE_IN) {
#pragma omp taskwait depend(in : location[a])
  } else {
#pragma omp taskwait depend(inout : location[a])
  }
  begin_accesses(n, s);
  end_accesses(n, s);
}

static void take_step(marline_graph_t* graph, int n, int s) {
  const struct Step* step = &iterations[n].step[s];
  if (step->drops) marline_graph_drop_task(graph);
  if (step->kind == kWait) {
#pragma omp taskwait
  } else if (step->kind == kWaitDepend) {
    wait_for(n, s);
  } else if (step->kind == kGrouped) {
#pragma omp taskgroup
    {
      say_dependences(step);
      create(n, s);
    }
  } else {
    say_dependences(step);
    create(n, s);
  }
}

/* The draw. */

static void draw_step(uint64_t* state, struct Step* step) {
  memset(step, 0, sizeof *step);
  int kind = below(state, 3 * kKinds); /* mostly plain tasks */
  step->kind = kind < kKinds ? (enum Kind)kind : kPlain;
  if (mode == MARLINE_GRAPH_REPLAY &&
      (step->kind == kUndeferred || step->kind == kDetached || step->kind == kWaitDepend))
    step->kind = kPlain;
  if (step->kind == kWait) return;
  if (step->kind == kAllMemory) {
    step->count = addresses;
    for (int a = 0; a < addresses; ++a) step->access[a] = (struct Access){a, MARLINE_INOUT, 0};
    return;
  }
  static const marline_depend_type_t types[] = {MARLINE_IN, MARLINE_IN, MARLINE_INOUT, MARLINE_MUTEXINOUTSET,
                                                MARLINE_INOUTSET};
  int wanted = step->kind == kWaitDepend ? 1 : below(state, kAccesses + 1);
  int used[kAddresses] = {0};
  for (int i = 0; i < wanted && i < addresses; ++i) {
    int a = below(state, addresses);
    if (used[a]++) continue;
    step->access[step->count++] = (struct Access){a, types[below(state, 5)], 0};
  }
  if (step->kind == kWaitDepend && step->access[0].type != MARLINE_IN) step->access[0].type = MARLINE_INOUT;
}

/* Changes an iteration or not. 0: for this time; 1: for good; -1: not at all. */
static void change(uint64_t* state, struct Iteration* iteration) {
  int at = below(state, iteration->count + 1);
  switch (below(state, 4)) {
    case 0: /* one more */
      if (iteration->count == kSteps) return;
      memmove(&iteration->step[at + 1], &iteration->step[at],
              (size_t)(iteration->count - at) * sizeof iteration->step[0]);
      ++iteration->count;
      draw_step(state, &iteration->step[at]);
      break;
    case 1: /* one fewer */
      if (at == iteration->count) return;
      memmove(&iteration->step[at], &iteration->step[at + 1],
              (size_t)(iteration->count - at - 1) * sizeof iteration->step[0]);
      --iteration->count;
      break;
    case 2: /* another one */
      if (at < iteration->count) draw_step(state, &iteration->step[at]);
      break;
    case 3: iteration->count = at; break;
  }
}

static int is_task(const struct Step* step) { return step->kind <= kGrouped || step->kind == kAllMemory; }

static void drop(uint64_t* state, struct Iteration* iteration, struct Iteration* later) {
  int at = iteration->count == 0 ? 0 : below(state, iteration->count);
  if (at + 1 >= iteration->count || !is_task(&iteration->step[at])) return;
  for (int i = at; i + 1 < iteration->count; ++i) iteration->step[i] = iteration->step[i + 1];
  --iteration->count;
  *later = *iteration;
  iteration->step[at].drops = 1;
}

static void draw(uint64_t* state) {
  static struct Iteration base;
  addresses = 1 + below(state, kAddresses);
  iteration_count = 1 + below(state, ordinary ? kIterations : kRecorded);
  base.count = 1 + below(state, kSteps);
  for (int s = 0; s < base.count; ++s) draw_step(state, &base.step[s]);
  for (int n = 0; n < iteration_count; ++n) {
    iterations[n] = base;
    if (mode == MARLINE_GRAPH_REPLAY) continue;
    int chance = below(state, 8);
    if (chance == 0) change(state, &iterations[n]);
    if (chance == 1) {
      change(state, &base);
      iterations[n] = base;
    }
    if (chance == 2 && !ordinary) drop(state, &iterations[n], &base);
  }
  memset(total, 0, sizeof total);
  memset(exclusive_total, 0, sizeof exclusive_total);
  memset(phase, 0, sizeof phase);
  children_total = 0;
  for (int n = 0; n < iteration_count; ++n) {
    for (int s = 0; s < iterations[n].count; ++s) foresee(&iterations[n].step[s]);
    if (n == 0) memcpy(per_iteration, total, sizeof total);
    if (mode != MARLINE_GRAPH_REPLAY) continue;
    for (int a = 0; a < addresses; ++a) {
      total[a] = per_iteration[a] * iteration_count;
      exclusive_total[a] *= iteration_count;
    }
    children_total *= iteration_count;
    break;
  }
}

static void run_graph(uint64_t invalidations) {
  marline_graph_t* graph = marline_graph_begin(mode);
  for (int n = 0; n < iteration_count; ++n) {
    if (mode != MARLINE_GRAPH_REPLAY && (invalidations >> n) % 16 == 0) marline_graph_invalidate(graph);
    if (!marline_graph_iterate(graph)) continue;
    for (int s = 0; s < iterations[n].count; ++s) take_step(graph, n, s);
  }
  marline_graph_end(graph);
}

static void run_ordinary(void) {
#pragma omp taskgroup /* waits for the children's children, too */
  for (int n = 0; n < iteration_count; ++n)
    for (int s = 0; s < iterations[n].count; ++s) take_step(NULL, n, s);
}

static void run(uint64_t* state) {
  memset(done, 0, sizeof done);
  memset(plain, 0, sizeof plain);
  memset(exclusive, 0, sizeof exclusive);
  children = 0;
  uint64_t invalidations = next_random(state);
  /* Outside tasks that the graph must come after. */
#pragma omp task depend(inout : location[0])
  plain[0] = 0;
  if (ordinary)
    run_ordinary();
  else
    run_graph(invalidations);
#pragma omp taskwait
}

int main(int argc, char** argv) {
  uint64_t state = argument(argc, argv, 1, 1);
  int rounds = (int)argument(argc, argv, 2, 40) * 8;
  ordinary = argument(argc, argv, 3, 0) != 0;
#pragma omp parallel
#pragma omp single
  for (int round = 0; round < rounds; ++round) {
    mode = ordinary ? MARLINE_GRAPH_NOWAIT : round % 3;
    draw(&state);
    run(&state);
    for (int a = 0; a < addresses; ++a) {
      CHECK(done[a] == total[a], "round %d: %ld accesses to %d, model %ld", round, done[a], a, total[a]);
      CHECK(exclusive[a] == exclusive_total[a], "round %d: %ld exclusive accesses to %d, model %ld", round,
            exclusive[a], a, exclusive_total[a]);
    }
    CHECK(children == children_total, "round %d: %ld children, model %ld", round, children, children_total);
  }
  return 0;
}
