/* SPDX-License-Identifier: Apache-2.0
 *
 * Creates and runs the tasks of the forms with tasks. Each kind of task has a function of its own that is not inlined,
 * so that the code address which a tool sees at its creation names it. Tasks carry only their place in the plan: the
 * tasks of a repeated graph are the same in all cycles. Tasks that call MPI are untied and keep nothing in thread-local
 * storage across the call.
 *
 * How a run ends. The task of the step finds that the run has ended. Later tasks exist by then, and some of them run or
 * have run: forces, their sums and the messages of the sums, none of which changes the state. All processes have
 * created that cycle, so their messages match. All other tasks of the cycle wait for the step, and then do nothing. The
 * creating thread waits for the step, too, before it creates another cycle.
 */
#include "tasks.h"

#include <marline/trace.h>
#include <omp.h>

/* The bodies ------------------------------------------------------------------------------------------------------ */

/* For tasks that wait for the step. The next step does not change this before they have read it: for most of them by
 * a dependence; for tasks that send by their message, because no process knows the next step before the receiver has
 * computed with it. */
static bool ended(const TaskRun* run) { return simulation_ended(&run->simulation); }

static const Message* message_of(const TaskRun* run, ExchangeKind kind, int index) {
  return &run->plan->exchange->message[kind][index];
}

static void run_step(TaskRun* run, int none) {
  (void)none;
  simulation_advance(&run->simulation);
}

static void run_receive(TaskRun* run, int index) {
  const Message* message = run->plan->received[index];
  if (message->kind == kForces || !ended(run)) {
    message_receive(run->plan->exchange, message);
    if (message->kind == kGradients) {
      message_apply(message, run->simulation.fields);
    }
  }
}

static void run_forces(TaskRun* run, int block) {
  phase_forces(run->simulation.fields, &run->plan->elements.share[block]);
}

static void run_gather(TaskRun* run, int block) {
  phase_gather(run->simulation.fields, &run->plan->nodes.share[block]);
  if (!plan_sums_forces(run->plan)) {
    phase_accelerate(run->simulation.fields, &run->plan->nodes.share[block]);
  }
}

static void run_send_forces(TaskRun* run, int index) {
  message_send(run->plan->exchange, message_of(run, kForces, index), run->simulation.fields);
}

static void run_add_forces(TaskRun* run, int index) {
  message_apply(message_of(run, kForces, index), run->simulation.fields);
}

static void run_accelerate(TaskRun* run, int block) {
  phase_accelerate(run->simulation.fields, &run->plan->nodes.share[block]);
}

static void run_move(TaskRun* run, int block) {
  if (!ended(run)) {
    phase_move(run->simulation.fields, &run->plan->nodes.share[block]);
  }
}

static void run_send_motion(TaskRun* run, int index) {
  if (!ended(run)) {
    message_send(run->plan->exchange, message_of(run, kMotion, index), run->simulation.fields);
  }
}

static void run_set_motion(TaskRun* run, int index) {
  if (!ended(run)) {
    message_apply(message_of(run, kMotion, index), run->simulation.fields);
  }
}

static void run_kinematics(TaskRun* run, int block) {
  if (!ended(run)) {
    phase_kinematics(run->simulation.fields, &run->plan->elements.share[block]);
  }
}

static void run_send_gradients(TaskRun* run, int index) {
  if (!ended(run)) {
    message_send(run->plan->exchange, message_of(run, kGradients, index), run->simulation.fields);
  }
}

static void run_material(TaskRun* run, int block) {
  if (!ended(run)) {
    phase_viscosity(run->simulation.fields, &run->plan->elements.share[block]);
    phase_material(run->simulation.fields, &run->plan->elements.share[block]);
  }
}

/* Their creation -------------------------------------------------------------------------------------------------- */

#define PRAGMA_OF(text) _Pragma(#text)
#define PRAGMA(text) PRAGMA_OF(text)

/* task_KIND creates the task that runs run_KIND(run, task->index). After the call of the runtime comes something else,
 * so that no compiler turns this call into a jump: a tool would then see the caller's address. */
#define TASK_KIND(kind)                                                                             \
  __attribute__((noinline)) static void task_##kind(TaskRun* run, const PlannedTask* task) {        \
    const marline_dependence_t* list = task->list;                                                  \
    int reads = task->reads, writes = task->writes, index = task->index, priority = task->priority; \
    (void)list, (void)reads, (void)writes, (void)priority; /* GCC does not count clauses as uses */ \
    if (task->object) {                                                                             \
      run->entries->task_depend_object(task->object);                                               \
      PRAGMA(omp task untied default(none) firstprivate(run, index) priority(priority))             \
      run_##kind(run, index);                                                                       \
    } else {                                                                                        \
      PRAGMA(omp task untied default(none) firstprivate(run, index) priority(priority)              \
                 depend(iterator(int i = 0 : reads), in : *(char*)list[i].address)                  \
                     depend(iterator(int i = 0 : writes), out : *(char*)list[reads + i].address))   \
      run_##kind(run, index);                                                                       \
    }                                                                                               \
    __asm__ volatile("");                                                                           \
  }

TASK_KIND(step)
TASK_KIND(receive)
TASK_KIND(forces)
TASK_KIND(gather)
TASK_KIND(send_forces)
TASK_KIND(add_forces)
TASK_KIND(accelerate)
TASK_KIND(move)
TASK_KIND(send_motion)
TASK_KIND(set_motion)
TASK_KIND(kinematics)
TASK_KIND(send_gradients)
TASK_KIND(material)

typedef void Create(TaskRun* run, const PlannedTask* task);

static Create* const kCreate[kTaskKinds] = {
    [kTaskStep] = task_step,
    [kTaskReceive] = task_receive,
    [kTaskForces] = task_forces,
    [kTaskGather] = task_gather,
    [kTaskSendForces] = task_send_forces,
    [kTaskAddForces] = task_add_forces,
    [kTaskAccelerate] = task_accelerate,
    [kTaskMove] = task_move,
    [kTaskSendMotion] = task_send_motion,
    [kTaskSetMotion] = task_set_motion,
    [kTaskKinematics] = task_kinematics,
    [kTaskSendGradients] = task_send_gradients,
    [kTaskMaterial] = task_material,
};

static void spend(double microseconds) {
  double end = omp_get_wtime() + 1e-6 * microseconds;
  while (omp_get_wtime() < end) {
  }
}

void tasks_create(TaskRun* run, TaskKind first, TaskKind last) {
  const Plan* plan = run->plan;
  double start = omp_get_wtime();
  for (TaskKind kind = first; kind <= last; ++kind) {
    for (int i = plan->first[kind]; i < plan->first[kind + 1]; ++i) {
      if (run->creation_us > 0) {
        spend(run->creation_us);
      }
      kCreate[kind](run, &plan->task[i]);
    }
  }
  run->discovery += omp_get_wtime() - start;
  run->created += plan->first[last + 1] - plan->first[first];
}

/* The loop over the cycles ---------------------------------------------------------------------------------------- */

/* Charts tell cycles apart by the region "cycle" (marline report --color-by cycle). */

/* A cycle, and whether it takes place. */
static void create_cycle(TaskRun* run) {
  const char* step = plan_step_tile(run->plan);
  (void)step;
  tasks_create(run, kTaskStep, kTaskMaterial);
#pragma omp taskwait depend(in : *step)
}

static void create_tasks(TaskRun* run) {
  for (int k = 0; k < run->simulation.most_cycles && !simulation_ended(&run->simulation); ++k) {
    marline_region_begin("cycle");
    create_cycle(run);
    marline_region_end();
  }
}

/* Cuts the mesh anew, in turns into half as many blocks and into twice as many, as an adaptive mesh would do after a
 * change. Called when no task is left. */
static void cut_anew(TaskRun* run, int time) {
  Plan* plan = run->plan;
  Plan before = *plan;
  Tiling tiling = plan->tiling;
  tiling.element_tasks = time % 2 == 1 ? (tiling.element_tasks + 1) / 2 : 2 * tiling.element_tasks;
  if (plan_create(plan, &tiling, run->simulation.fields, plan->exchange, run->entries)) {
    plan_destroy(&before);
  } else {
    plan_destroy(plan);
    *plan = before;
    run->no_room = true;
  }
}

/* A graph that was invalidated is recorded anew by the next iteration, which begins when all earlier iterations have
 * ended. */
static void create_persistent(TaskRun* run) {
  marline_graph_t* graph = run->entries->graph_begin(run->graph_mode);
  for (int k = 0; k < run->simulation.most_cycles && !simulation_ended(&run->simulation); ++k) {
    bool changed = run->remesh > 0 && k > 0 && k % run->remesh == 0;
    if (changed) {
      run->entries->graph_invalidate(graph);
    }
    marline_region_begin("cycle");
    if (run->entries->graph_iterate(graph)) {
      if (changed) {
        cut_anew(run, k / run->remesh);
      }
      create_cycle(run);
    } else {
      run->created += plan_tasks(run->plan);
    }
    marline_region_end();
  }
  run->entries->graph_end(graph);
}

static void create_bsp(TaskRun* run) {
  Simulation* simulation = &run->simulation;
  while (simulation_advance(simulation)) {
    marline_region_begin("cycle");
    tasks_create(run, kTaskForces, kTaskGather);
#pragma omp taskwait
    exchange_all(simulation->exchange, kForces, simulation->fields);
    tasks_create(run, kTaskAccelerate, kTaskMove);
#pragma omp taskwait
    exchange_all(simulation->exchange, kMotion, simulation->fields);
    tasks_create(run, kTaskKinematics, kTaskKinematics);
#pragma omp taskwait
    exchange_all(simulation->exchange, kGradients, simulation->fields);
    tasks_create(run, kTaskMaterial, kTaskMaterial);
#pragma omp taskwait
    marline_region_end();
  }
}

marline_counters_t tasks_counters(const Entries* entries) {
  marline_counters_t counters = {0};
  if (entries->counters_read) {
    entries->counters_read(&counters, sizeof counters);
  }
  return counters;
}

void tasks_count_since(TaskRun* run, const marline_counters_t* before) {
  run->counted = tasks_counters(run->entries);
  run->counted.edges -= before->edges;
  run->counted.pruned -= before->pruned;
  run->counted.probes -= before->probes;
}

static void run_with(TaskRun* run, void (*create)(TaskRun* run)) {
  marline_counters_t before = tasks_counters(run->entries);
#pragma omp parallel default(none) shared(run, create)
#pragma omp single
  create(run);
  tasks_count_since(run, &before);
}

void tasks_run(TaskRun* run) { run_with(run, create_tasks); }
void persistent_run(TaskRun* run) { run_with(run, create_persistent); }
void bsp_run(TaskRun* run) { run_with(run, create_bsp); }
