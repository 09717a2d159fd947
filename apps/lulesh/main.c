/* SPDX-License-Identifier: Apache-2.0
 *
 * LULESH 2.0, written from a description of its physics and phases: a blast in an ideal gas on an unstructured mesh that
 * moves with the gas. This file is the course of a run. Each step is collective, and after each step that can fail the
 * processes agree (common/job.h) whether to go on. Everything here runs on the main thread.
 */
#include <mpi.h>

#include "exchange.h"
#include "fields.h"
#include "forms.h"
#include "job.h"
#include "mesh.h"
#include "options.h"
#include "regions.h"
#include "report.h"

/* Everything that a run holds; destroyed in one place however it ends. */
typedef struct {
  Job job;
  Options options;
  Mesh mesh;
  Regions regions;
  Fields fields;
  Exchange exchange;
} Run;

static int prepare(Run *run) {
  Failure failure = {0};
  const Options *options = &run->options;
  if (mesh_per_edge(run->job.ranks) == 0) {
    failure_note(&failure, kExitInput, "%d ranks do not make a cube of cubes; take 1, 8, 27, 64, ...", run->job.ranks);
  } else if (!mesh_create(&run->mesh, mesh_place(run->job.rank, run->job.ranks), options->size) ||
             !regions_create(&run->regions, run->mesh.elements, options->regions, options->balance, options->cost,
                             run->job.rank) ||
             !fields_create(&run->fields, &run->mesh, &run->regions) || !exchange_create(&run->exchange, &run->mesh)) {
    failure_note(&failure, kExitInput, "not enough memory for %d^3 elements: their fields take %.0f MiB; take a smaller -s",
                 options->size, fields_bytes(&run->mesh) / 1048576);
  }
  return job_agree(&run->job, &failure);
}

/* The first step of all processes is that of rank 0: rounding gives others another one. */
static void share_start(Run *run) {
  exchange_node_mass(&run->exchange, &run->fields);
  MPI_Bcast(&run->fields.step, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

/* The time of the slowest process. */
static double timed(Run *run) {
  Simulation simulation = {&run->fields, &run->exchange, run->options.cycles,
                           run->options.prints_cycles && !run->options.quiet && run->job.rank == 0};
  Form *const forms[] = {[kFormSerial] = form_serial, [kFormLoops] = form_loops};
  MPI_Barrier(MPI_COMM_WORLD);
  double start = MPI_Wtime();
  forms[run->options.form](&simulation);
  double seconds = MPI_Wtime() - start;
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return seconds;
}

static int judge(const Run *run) {
  Failure failure = {0};
  if (run->fields.failure == kBadVolume) {
    failure_note(&failure, kExitWrong, "an element has no volume left in cycle %d", run->fields.cycle);
  } else if (run->fields.failure == kTooViscous) {
    failure_note(&failure, kExitWrong, "the artificial viscosity of an element is too large in cycle %d", run->fields.cycle);
  }
  return job_agree(&run->job, &failure);
}

static int simulate(Run *run) {
  const bool speaks = run->job.rank == 0 && !run->options.quiet;
  Report report = {.options = &run->options, .ranks = run->job.ranks, .threads = run->job.threads};
  if (speaks) {
    report_begin(&report);
  }
  share_start(run);
  report.seconds = timed(run);
  int code = judge(run);
  uint64_t hash = report_hash(&run->fields) * (uint64_t)(2 * run->job.rank + 1); /* the place counts, too */
  MPI_Reduce(&hash, &report.hash, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  if (code == 0 && speaks) {
    report_end(&report, &run->fields);
  }
  return code;
}

static int execute(Run *run, int argc, char **argv) {
  Failure failure = {0};
  options_parse(&run->options, argc, argv, &failure);
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
  return code != 0 ? code : simulate(run);
}

int main(int argc, char **argv) {
  Run run = {.job = job_start("lulesh", &argc, &argv)};
  int code = execute(&run, argc, argv);
  exchange_destroy(&run.exchange);
  fields_destroy(&run.fields);
  regions_destroy(&run.regions);
  mesh_destroy(&run.mesh);
  MPI_Finalize();
  return code;
}
