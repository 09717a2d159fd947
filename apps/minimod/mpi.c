/* SPDX-License-Identifier: Apache-2.0
 *
 * The same waves with a slab per MPI rank, written by hand: nonblocking messages, which overlap with the inner part if
 * the MPI library moves them meanwhile. After each step that can fail the processes agree (common/job.h) whether to go
 * on. Main thread only; host.c has the parallel loops.
 */
#include <mpi.h>
#include <stddef.h>
#include <string.h>

#include "grid.h"
#include "host.h"
#include "job.h"
#include "options.h"
#include "report.h"
#include "verify.h"

typedef struct {
  Job job;
  Options options;
  Grid grid;
} Run;

/* The halos of the field that `step` reads: begins what goes to the neighbour on one side and comes from it. */
static int begin_exchange(const Run* run, int step, bool above, MPI_Request* requests) {
  const Slab* slab = &run->grid.slab[0];
  float* field = slab->fields[step % 2];
  const int count = (int)(kHalo * slab->plane_size);
  const int neighbour = run->job.rank + (above ? 1 : -1);
  if (!(above ? slab->above : slab->below)) {
    return 0;
  }
  MPI_Irecv(field + grid_region(slab, above ? kUpperHalo : kLowerHalo), count, MPI_FLOAT, neighbour, !above,
            MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(field + grid_region(slab, above ? kUpper : kLower), count, MPI_FLOAT, neighbour, above, MPI_COMM_WORLD,
            &requests[1]);
  return 2;
}

static void compute(const Run* run, int step, int part, Work work) {
  if (work != kWorkHalos) {
    host_part(&run->grid, &run->grid.slab[0], step, part);
  }
}

static void make_step(const Run* run, int step, Work work) {
  const bool exchange = work != kWorkKernels;
  MPI_Request requests[4];
  compute(run, step, kLower, work);
  int count = exchange ? begin_exchange(run, step + 1, false, requests) : 0;
  compute(run, step, kUpper, work);
  count += exchange ? begin_exchange(run, step + 1, true, requests + count) : 0;
  compute(run, step, kInner, work);
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
}

static double timed_steps(const Run* run, Work work) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (int step = 0; step < run->options.steps; ++step) {
    make_step(run, step, work);
  }
  double seconds = MPI_Wtime() - start;
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return seconds;
}

static void make_steps(const Run* run, double seconds[kWorks]) {
  const int turns = run->options.overlap ? kOverlapTurns : 1, works = run->options.overlap ? kWorks : kWorkAll + 1;
  for (int i = 0; i < turns * works; ++i) {
    const Work work = (Work)(i % works);
    seconds[work] = work_faster(seconds[work], timed_steps(run, work));
  }
}

static void reduce(Findings* findings) {
  MPI_Allreduce(MPI_IN_PLACE, &findings->differing, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &findings->largest_difference, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
}
_Static_assert(sizeof(Findings) == 5 * sizeof(double) && offsetof(Findings, largest_difference) == 3 * sizeof(double),
               "three sums, two maxima");

static int simulate(Run* run) {
  Failure failure = {0};
  const Options* options = &run->options;
  Report report = {.options = options, .kind = "ranks", .slabs = run->job.ranks, .threads = run->job.threads};
  make_steps(run, report.seconds);
  if (!verify_grid(&run->grid, &report.findings)) {
    failure_note(&failure, kExitInput, "not enough memory for a serial run of the grid; leave --serial out");
  }
  reduce(&report.findings);
  int code = job_agree(&run->job, &failure);
  if (code == 0 && run->job.rank == 0) {
    report_remarks(&report);
    verify_judge(options, &report.findings, &failure);
  }
  code = code != 0 ? code : job_agree(&run->job, &failure);
  if (code == 0 && run->job.rank == 0) {
    report_figures(&report);
  }
  return code;
}

static int prepare(Run* run) {
  Failure failure = {0};
  const Options* options = &run->options;
  const int ranks = run->job.ranks;
  const int first = grid_cut(options, ranks, run->job.rank), end = grid_cut(options, ranks, run->job.rank + 1);
  verify_check_options(options, &failure);
  if (options->grid[0] / ranks < grid_fewest_planes(ranks)) {
    failure_note(&failure, kExitInput, "%d planes are too few for %d ranks, which need %d each", options->grid[0],
                 ranks, grid_fewest_planes(ranks));
  }
  if (options->overlap && ranks < 2) {
    failure_note(&failure, kExitInput, "--overlap needs two ranks or more: a single slab has no halos");
  }
  if (failure.code == 0 && !grid_create(&run->grid, options, first, end - first, 1)) {
    failure_note(&failure, kExitInput, "not enough memory for %d x %d x %d points", end - first, options->grid[1],
                 options->grid[2]);
  }
  return job_agree(&run->job, &failure);
}

static int execute(Run* run, int argc, char** argv) {
  Failure failure = {0};
  options_parse(&run->options, argc, argv, &failure);
  if (run->options.device_option) {
    failure_note(&failure, kExitInput, "%.*s is an option of minimod, not of minimod-mpi",
                 (int)strcspn(run->options.device_option, " "), run->options.device_option);
  }
  int code = job_agree(&run->job, &failure);
  if (code == 0 && run->options.help) {
    if (run->job.rank == 0) {
      options_print_usage(true);
    }
    return 0;
  }
  if (code == 0) {
    code = prepare(run);
  }
  return code != 0 ? code : simulate(run);
}

int main(int argc, char** argv) {
  Run run = {.job = job_start("minimod-mpi", &argc, &argv)};
  const int code = execute(&run, argc, argv);
  grid_destroy(&run.grid);
  MPI_Finalize();
  return code;
}
