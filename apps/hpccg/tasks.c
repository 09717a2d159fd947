/* SPDX-License-Identifier: Apache-2.0
 *
 * See tasks.h. Each kind of task has a function of its own that is not inlined, so that the code address which a tool
 * sees at its creation names it. Tasks carry their place in the plan and nothing else. They do not carry the number of
 * the iteration, as the tasks of a repeated graph are the same in all iterations.
 *
 * Tasks that call MPI are untied and keep nothing in thread-local storage across the call.
 */
#include "tasks.h"

#include <omp.h>

/* OpenMP 5.1's inoutset. */
#if defined(__clang__) ? __clang_major__ >= 16 : __GNUC__ >= 13
#define HAVE_INOUTSET 1
#define CLAUSE_SETS depend(iterator(int i = 0 : sets), inoutset : *(char*)list[reads + writes + i].address)
#else
#define HAVE_INOUTSET 0
#define CLAUSE_SETS
#endif

/* The bodies ------------------------------------------------------------------------------------------------------ */

static void run_direction(Plan* plan, int tile) {
  solver_direction(plan->solver, plan_tile_first(plan, tile), plan_tile_first(plan, tile + 1));
}

/* Once the solver has stopped, no process sends; see gather_receive. Without a tolerance all messages are sent. */
static bool exchanges(const Solver* solver) { return solver->enough < 0 || solver_state(solver) == kSolverRuns; }

static void run_send(Plan* plan, int n) {
  if (exchanges(plan->solver)) {
    halo_send(&plan->solver->halo->neighbours[n], plan->solver->p);
  }
}

static void run_receive(Plan* plan, int n) {
  if (exchanges(plan->solver)) {
    halo_receive(&plan->solver->halo->neighbours[n], plan->solver->p);
  }
}

static void run_product(Plan* plan, int index) {
  int tile = index / plan->tiling.parts;
  int part = index % plan->tiling.parts;
  int first = plan_part_first(plan, tile, part);
  int last = plan_part_first(plan, tile, part + 1);
  if (plan->tiling.separate) {
    solver_product(plan->solver, first, last);
  } else {
    plan->pap[index] = solver_product_dot(plan->solver, first, last);
  }
}

static void run_dot_product(Plan* plan, int tile) {
  plan->pap[tile] = solver_dot_product(plan->solver, plan_tile_first(plan, tile), plan_tile_first(plan, tile + 1));
}

/* In one order, whatever the schedule. */
static double sum(const double* parts, int count) {
  double total = 0;
  for (int k = 0; k < count; ++k) {
    total += parts[k];
  }
  return total;
}

static void run_alpha(Plan* plan, int none) {
  (void)none;
  solver_alpha(plan->solver, sum(plan->pap, plan->tiling.separate ? plan->tiling.tiles : plan->count[kProduct]));
}

static void run_update(Plan* plan, int tile) {
  plan->rr[tile] = solver_update_dot(plan->solver, plan_tile_first(plan, tile), plan_tile_first(plan, tile + 1));
}

static void run_update_x(Plan* plan, int tile) {
  solver_update_x(plan->solver, plan_tile_first(plan, tile), plan_tile_first(plan, tile + 1));
}

static void run_update_r(Plan* plan, int tile) {
  solver_update_r(plan->solver, plan_tile_first(plan, tile), plan_tile_first(plan, tile + 1));
}

static void run_dot_residual(Plan* plan, int tile) {
  plan->rr[tile] = solver_dot_residual(plan->solver, plan_tile_first(plan, tile), plan_tile_first(plan, tile + 1));
}

static void run_beta(Plan* plan, int cancel) {
  SolverState before = solver_state(plan->solver);
  solver_beta(plan->solver, sum(plan->rr, plan->tiling.tiles));
  if (cancel && before == kSolverRuns && solver_state(plan->solver) != kSolverRuns) {
    plan->entries->taskgroup_cancel_later();
  }
}

/* Their creation -------------------------------------------------------------------------------------------------- */

#define PRAGMA_OF(text) _Pragma(#text)
#define PRAGMA(text) PRAGMA_OF(text)

/* task_KIND creates the task that runs run_KIND(plan, index). */
#define TASK_KIND(kind)                                                                                       \
  __attribute__((noinline)) static void task_##kind(Plan* plan, const Dependences* of, int index) {           \
    const marline_dependence_t* list = of->list;                                                              \
    int reads = of->reads, writes = of->writes, sets = of->sets;                                              \
    (void)sets;                                                                                               \
    if (plan->tiling.pass == kPassClauses) {                                                                  \
      PRAGMA(omp task untied default(none) firstprivate(plan, index)                                          \
                 depend(iterator(int i = 0 : reads), in : *(char*)list[i].address)                            \
                     depend(iterator(int i = 0 : writes), out : *(char*)list[reads + i].address) CLAUSE_SETS) \
      run_##kind(plan, index);                                                                                \
    } else {                                                                                                  \
      if (plan->tiling.pass == kPassObjects) {                                                                \
        plan->entries->task_depend_object(of->object);                                                        \
      } else {                                                                                                \
        plan->entries->task_depend(list, (size_t)reads + (size_t)writes + (size_t)sets);                      \
      }                                                                                                       \
      PRAGMA(omp task untied default(none) firstprivate(plan, index))                                         \
      run_##kind(plan, index);                                                                                \
    }                                                                                                         \
  }

TASK_KIND(direction)
TASK_KIND(send)
TASK_KIND(receive)
TASK_KIND(product)
TASK_KIND(dot_product)
TASK_KIND(alpha)
TASK_KIND(update)
TASK_KIND(update_x)
TASK_KIND(update_r)
TASK_KIND(dot_residual)
TASK_KIND(beta)

typedef void (*Create)(Plan* plan, const Dependences* of, int index);

static void create_all(Plan* plan, Kind kind, Create create) {
  for (int index = 0; index < plan->count[kind]; ++index) {
    create(plan, &plan->of[kind][index], index);
  }
}

/* Receives come first: whatever the runtime does with tasks that wait, they may wait for the whole iteration. */
void tasks_create_iteration(Plan* plan, bool cancel) {
  create_all(plan, kReceive, task_receive);
  create_all(plan, kDirection, task_direction);
  create_all(plan, kSend, task_send);
  create_all(plan, kProduct, task_product);
  create_all(plan, kDotProduct, task_dot_product);
  create_all(plan, kAlpha, task_alpha);
  create_all(plan, kUpdate, task_update);
  create_all(plan, kUpdateX, task_update_x);
  create_all(plan, kUpdateR, task_update_r);
  create_all(plan, kDotResidual, task_dot_residual);
  task_beta(plan, &plan->of[kBeta][0], cancel);
}

/* The loop over the iterations ------------------------------------------------------------------------------------ */

static void create_timed(Plan* plan, bool cancel, TaskFigures* figures) {
  double start = omp_get_wtime();
  tasks_create_iteration(plan, cancel);
  figures->discovery += omp_get_wtime() - start;
  figures->created += plan_tasks(plan);
}

static void create_tasks(Plan* plan, const TaskForm* form, TaskFigures* figures) {
  Solver* solver = plan->solver;
  for (int k = 0; k < solver->limit && solver_state(solver) == kSolverRuns; ++k) {
    create_timed(plan, form->cancel, figures);
    if (solver->enough >= 0 && (k + 1) % (form->lag + 1) == 0) {
#pragma omp taskwait depend(in : solver->beta)
    }
  }
}

static void create_persistent(Plan* plan, const TaskForm* form, TaskFigures* figures) {
  Solver* solver = plan->solver;
  const Entries* entries = plan->entries;
  marline_graph_t* graph = entries->graph_begin(form->mode);
  for (int k = 0; k < solver->limit && solver_state(solver) == kSolverRuns; ++k) {
    if (entries->graph_iterate(graph)) {
      create_timed(plan, false, figures);
    } else {
      figures->created += plan_tasks(plan);
    }
  }
  entries->graph_end(graph);
}

marline_counters_t tasks_read_counters(const Entries* entries) {
  marline_counters_t counters = {0};
  if (entries->counters_read) {
    entries->counters_read(&counters, sizeof counters);
  }
  return counters;
}

void tasks_count_since(TaskFigures* figures, const marline_counters_t* before, const Entries* entries) {
  marline_counters_t after = tasks_read_counters(entries);
  figures->counted = entries->counters_read != NULL;
  figures->edges = after.edges - before->edges;
  figures->nodes = after.nodes - before->nodes;
}

TaskFigures tasks_solve(Plan* plan, const TaskForm* form) {
  TaskFigures figures = {0};
  marline_counters_t before = tasks_read_counters(plan->entries);
#pragma omp parallel default(none) shared(plan, form, figures)
#pragma omp single
  if (form->persistent) {
    create_persistent(plan, form, &figures);
  } else {
#pragma omp taskgroup
    create_tasks(plan, form, &figures);
  }
  tasks_count_since(&figures, &before, plan->entries);
  return figures;
}

void tasks_check(const Tiling* tiling, const TaskForm* form, bool tolerance, const Entries* entries, Failure* failure) {
  if (tiling->pass != kPassClauses && !(entries->task_depend && entries_have_objects(entries))) {
    failure_note(failure, kExitInput,
                 "--pass lists and --pass objects need marline_task_depend, which this runtime "
                 "does not have: start the program with `marline run`, or take --pass clauses");
  }
  if (tiling->pass == kPassClauses && tiling->parts > 1 && tiling->naming != kNamingScalar && !HAVE_INOUTSET) {
    failure_note(failure, kExitInput,
                 "--parts beyond 1 need inoutset, which this compiler does not know in depend "
                 "clauses: take --pass objects, or a build by another compiler");
  }
  if (form->persistent && !entries_have_graphs(entries)) {
    failure_note(failure, kExitInput,
                 "--form persistent needs marline_graph_begin, which this runtime does not have: "
                 "start the program with `marline run`, or take --form tasks");
  }
  if (form->cancel && !entries->taskgroup_cancel_later) {
    failure_note(failure, kExitInput,
                 "--cancel needs marline_taskgroup_cancel_later, which this runtime does not "
                 "have: start the program with `marline run`, or leave it out");
  }
  if (form->cancel && (form->persistent || !tolerance)) {
    failure_note(failure, kExitInput,
                 "--cancel drops iterations that were created ahead of convergence: it goes with "
                 "--form tasks and --tolerance");
  }
}
