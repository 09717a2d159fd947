/* SPDX-License-Identifier: Apache-2.0
 *
 * LULESH 2.0, written from a description of its physics and phases: a blast in an ideal gas on an unstructured mesh
 * that moves with the gas. This file is the course of a run. Each step is collective, and after each step that can fail
 * the processes agree (common/job.h) whether to go on. Everything here runs on the main thread.
 */
#include <mpi.h>

#include "cut.h"
#include "exchange.h"
#include "fields.h"
#include "footprint.h"
#include "forms.h"
#include "job.h"
#include "loop_times.h"
#include "mesh.h"
#include "options.h"
#include "plan.h"
#include "regions.h"
#include "report.h"
#include "speculate.h"
#include "tasks.h"

/* Everything that a run holds; destroyed in one place however it ends. */
typedef struct {
  Job job;
  Options options;
  Entries entries;
  Mesh mesh;
  Regions regions;
  Fields fields;
  Exchange exchange;
  Cut cut;   /* of the forms without tasks */
  Plan plan; /* for the forms with tasks */
  MPI_Comm steps;
} Run;

static bool speaks(const Run* run) { return run->job.rank == 0 && !run->options.quiet; }

static Tiling tiling_of(const Run* run) {
  const Options* options = &run->options;
  return (Tiling){.element_tasks = options->element_tasks,
                  .node_tasks = options->node_tasks,
                  .naming = (Naming)options->naming,
                  .addresses = (Addresses)options->addresses,
                  .objects = options->pass == kPassObjects && entries_have_objects(&run->entries),
                  .messages = options->form != kFormBsp};
}

static bool create(Run* run) {
  const Options* options = &run->options;
  bool room = mesh_create(&run->mesh) &&
              regions_create(&run->regions, run->mesh.elements, options->regions, options->balance, options->cost,
                             run->job.rank) &&
              fields_create(&run->fields, &run->mesh, &run->regions) &&
              exchange_create(&run->exchange, &run->mesh, options->per_face, options->per_edge);
  if (room && options_have_tasks(options)) {
    Tiling tiling = tiling_of(run);
    return plan_create(&run->plan, &tiling, &run->fields, &run->exchange, &run->entries);
  }
  return room &&
         cut_for_threads(&run->cut, &run->mesh, &run->regions, options->form == kFormSerial ? 1 : run->job.threads);
}

static int prepare(Run* run) {
  Failure failure = {0};
  const Options* options = &run->options;
  if (mesh_per_edge(run->job.ranks) == 0) {
    failure_note(&failure, kExitInput, "%d ranks do not make a cube of cubes; take 1, 8, 27, 64, ...", run->job.ranks);
    return job_agree(&run->job, &failure);
  }
  run->mesh = mesh_of(mesh_place(run->job.rank, run->job.ranks), options->size);
  Report report = {.bytes = mesh_bytes(&run->mesh) + fields_bytes(&run->mesh) + exchange_bytes(&run->mesh)};
  if (speaks(run)) {
    report_memory(&report);
  }
  if (!create(run)) {
    failure_note(&failure, kExitInput,
                 "not enough memory for %d^3 elements, which take %.0f MiB and more; take a "
                 "smaller -s",
                 options->size, report.bytes / 1048576);
  }
  return job_agree(&run->job, &failure);
}

/* The first step of all processes is that of rank 0, because rounding may give other processes another value. */
static void share_start(Run* run) {
  exchange_all(&run->exchange, kMass, &run->fields);
  MPI_Bcast(&run->fields.step, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

static void advance(const Run* run, TaskRun* tasks) {
  switch (run->options.form) {
    case kFormSerial: serial_run(&tasks->simulation); break;
    case kFormLoops: loops_run(&tasks->simulation); break;
    case kFormTasks: tasks_run(tasks); break;
    case kFormPersistent: persistent_run(tasks); break;
    case kFormBsp: bsp_run(tasks); break;
    case kFormSpeculative: speculative_run(tasks); break;
  }
}

/* Runs the form and returns the time of the slowest process. */
static double timed(const Run* run, TaskRun* tasks) {
  MPI_Barrier(MPI_COMM_WORLD);
  double start = MPI_Wtime();
  advance(run, tasks);
  double seconds = MPI_Wtime() - start;
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return seconds;
}

/* Tasks of a cycle that did not take place may have found any failure: only the failure that the processes agreed on
 * counts. */
static int judge(const Run* run, const TaskRun* tasks) {
  Failure failure = {0};
  int reason = simulation_ended(&tasks->simulation) ? tasks->simulation.failure : fields_failure(&run->fields);
  if (reason == kBadVolume) {
    failure_note(&failure, kExitWrong, "an element has no volume left in cycle %d", run->fields.cycle);
  } else if (reason == kTooViscous) {
    failure_note(&failure, kExitWrong, "the artificial viscosity of an element is too large in cycle %d",
                 run->fields.cycle);
  } else if (tasks->no_room) {
    failure_note(&failure, kExitInput,
                 "not enough memory to cut the mesh anew; leave out --remesh, or take a smaller "
                 "-s");
  }
  speculative_judge(tasks, &failure);
  return job_agree(&run->job, &failure);
}

static int simulate(Run* run) {
  TaskRun tasks = {.simulation = {.fields = &run->fields,
                                  .exchange = &run->exchange,
                                  .cut = &run->cut,
                                  .steps = run->steps,
                                  .most_cycles = run->options.cycles,
                                  .prints_cycles = run->options.prints_cycles && speaks(run),
                                  .allocates = run->options.allocates_each_cycle},
                   .plan = &run->plan,
                   .entries = &run->entries,
                   .graph_mode = run->options.graph_mode,
                   .remesh = run->options.remesh,
                   .creation_us = run->options.creation_us};
  Report report = {.options = &run->options,
                   .ranks = run->job.ranks,
                   .threads = run->job.threads,
                   .tasks = options_have_tasks(&run->options) ? &tasks : NULL};
  if (speaks(run)) {
    report_begin(&report);
  }
  share_start(run);
  LoopTimes* times = run->options.times_loops ? loop_times_begin(&run->fields) : NULL;
  report.seconds = timed(run, &tasks);
  int code = judge(run, &tasks);
  uint64_t hash = report_hash(&run->fields) * (uint64_t)(2 * run->job.rank + 1); /* the hash depends on the rank, too */
  MPI_Reduce(&hash, &report.hash, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  if (code == 0 && speaks(run)) {
    report_end(&report, &run->fields);
    if (times) {
      loop_times_print(times, run->fields.cycle);
    }
  }
  loop_times_end(times);
  return code;
}

static int write_footprint(Run* run) {
  Failure failure = {0};
  bool tasks = options_have_tasks(&run->options);
  footprint_write(run->options.footprint, &run->fields, &run->cut, tasks ? &run->plan : NULL, &failure);
  return job_agree(&run->job, &failure);
}

static void check_runtime(const Run* run, Failure* failure) {
  const Entries* entries = &run->entries;
  if (run->options.form == kFormPersistent && !(entries_have_graphs(entries) && entries->graph_invalidate)) {
    failure_note(failure, kExitInput,
                 "--form persistent needs marline_graph_begin, which this runtime does not have: "
                 "start the program with `marline run`, or take --form tasks");
  }
  if (run->options.form == kFormSpeculative && !entries_have_speculation(entries)) {
    failure_note(failure, kExitInput,
                 "--form speculative needs marline_mpi_speculation_begin, which this process does "
                 "not have: start the program with `marline run`, or take --form tasks");
  }
  if (run->options.footprint && run->job.ranks > 1) {
    failure_note(failure, kExitInput, "--footprint writes the memory of one process, not of %d", run->job.ranks);
  }
  if (options_have_tasks(&run->options)) {
    job_check_thread_support(&run->job, failure);
  }
}

static int execute(Run* run, int argc, char** argv) {
  Failure failure = {0};
  options_parse(&run->options, argc, argv, &failure);
  if (!run->options.help) {
    check_runtime(run, &failure);
  }
  int code = job_agree(&run->job, &failure);
  if (code == 0 && run->options.help) {
    if (run->job.rank == 0) {
      options_print_usage();
    }
    return 0;
  }
  if (code == 0) {
    code = prepare(run);
  }
  if (code != 0) {
    return code;
  }
  return run->options.footprint ? write_footprint(run) : simulate(run);
}

int main(int argc, char** argv) {
  Run run = {.job = job_start("lulesh", &argc, &argv), .entries = entries_find()};
  MPI_Comm_dup(MPI_COMM_WORLD, &run.steps);
  int code = execute(&run, argc, argv);
  plan_destroy(&run.plan);
  cut_destroy(&run.cut);
  exchange_destroy(&run.exchange);
  fields_destroy(&run.fields);
  regions_destroy(&run.regions);
  mesh_destroy(&run.mesh);
  MPI_Comm_free(&run.steps);
  MPI_Finalize();
  return code;
}
