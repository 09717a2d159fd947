/* SPDX-License-Identifier: Apache-2.0
 *
 * Conjugate gradients with MPI processes and OpenMP threads, by loops or by dependent tasks, some of which call plain
 * blocking MPI. This file is the course of a run; each step is collective, and after each step that can fail the
 * processes agree (common/job.h) whether to go on. Everything here runs on the main thread.
 */
#include <limits.h>
#include <mpi.h>

#include "halo.h"
#include "job.h"
#include "loops.h"
#include "market_matrix.h"
#include "matrix.h"
#include "options.h"
#include "plan.h"
#include "report.h"
#include "solver.h"
#include "speculate.h"
#include "stencil.h"
#include "tasks.h"
#include "verify.h"

/* Everything that a run holds; destroyed in one place however it ends. */
typedef struct {
  Job job;
  Options options;
  Entries entries;
  MarketFile file;
  Rows rows;
  Matrix matrix;
  Halo halo;
  Solver solver;
  Plan plan;
} Run;

static bool has_tasks(const Run* run) {
  return run->options.form == kFormTasks || run->options.form == kFormPersistent;
}

static bool speculates(const Run* run) { return run->options.tasks.ahead > 0; }

static int no_room(const Run* run, bool room) {
  Failure failure = {0};
  if (!room) {
    failure_note(&failure, kExitInput, "not enough memory for this matrix; take a smaller one, or more ranks");
  }
  return job_agree(&run->job, &failure);
}

/* How many rows this process will have. */
static int open_input(Run* run, int* rows) {
  Failure failure = {0};
  const Options* options = &run->options;
  if (options->file) {
    market_open(&run->file, options->file, &failure);
    *rows = failure.code == 0 ? market_rows(&run->file, run->job.ranks, run->job.rank) : 0;
  } else {
    long long points = (long long)options->box.nx * options->box.ny * options->box.nz;
    *rows = (int)points;
    if (points * run->job.ranks > INT_MAX / 2) {
      failure_note(&failure, kExitInput, "%dx%dx%d points on each of %d ranks are too many rows: at most %d",
                   options->box.nx, options->box.ny, options->box.nz, run->job.ranks, INT_MAX / 2);
    }
  }
  return job_agree(&run->job, &failure);
}

static int load(Run* run) {
  Failure failure = {0};
  if (run->options.file) {
    market_fill(&run->file, &run->matrix, &run->rows, &failure);
    int code = job_agree(&run->job, &failure);
    if (code != 0) {
      return code;
    }
  }
  bool room = (run->options.file || stencil_fill(&run->matrix, &run->rows, &run->options.box)) &&
              matrix_localise(&run->matrix, &run->rows);
  return no_room(run, room);
}

static int prepare(Run* run) {
  int rows = 0;
  int code = open_input(run, &rows);
  if (code == 0) {
    code = no_room(run, rows_create(&run->rows, rows));
  }
  if (code == 0) {
    code = load(run);
  }
  if (code == 0) {
    const Options* options = &run->options;
    bool room = halo_create(&run->halo, &run->matrix, &run->rows) &&
                solver_create(&run->solver, &run->matrix, &run->halo, options->iterations,
                              speculates(run) ? 0 : options->tolerance) &&
                (!has_tasks(run) || plan_create(&run->plan, &options->tiling, &run->solver, &run->entries));
    code = no_room(run, room);
  }
  return code;
}

/* Takes the time of the slowest process. False if memory does not suffice. */
static bool timed_solve(Run* run, Report* report) {
  const Options* options = &run->options;
  bool room = true;
  MPI_Barrier(MPI_COMM_WORLD);
  double start = MPI_Wtime();
  if (speculates(run)) {
    room = speculate_solve(&run->plan, &options->tasks, options->tolerance, &report->tasks, &report->speculation);
  } else if (has_tasks(run)) {
    report->tasks = tasks_solve(&run->plan, &options->tasks);
  } else {
    loops_solve(&run->solver, options->form == kFormFor, options->tiling.separate);
  }
  report->seconds = MPI_Wtime() - start;
  MPI_Allreduce(MPI_IN_PLACE, &report->seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return room;
}

static int judge(const Run* run, const Report* report) {
  Failure failure = {0};
  const Verdict* verdict = &report->verdict;
  if (run->solver.state == kSolverBroken) {
    failure_note(&failure, kExitWrong,
                 "the matrix is not positive definite: iteration %d met a direction p with "
                 "(p, A p) not above 0",
                 run->solver.iterations + 1);
    return job_agree(&run->job, &failure);
  }
  if (run->job.rank == 0) {
    report_remarks(report);
  }
  if (!verify_passed(verdict)) {
    failure_note(&failure, kExitWrong,
                 "the result is wrong: residual %.3e where the iterations say %.3e; error %.3e, "
                 "bound %.3e",
                 verdict->residual, verdict->recursive, verdict->error, verdict->bound);
  }
  speculate_judge(&report->speculation, &failure);
  if (run->job.rank == 0 && run->options.history) {
    report_history(run->options.history, &run->solver, &failure);
  }
  int code = job_agree(&run->job, &failure);
  if (code == 0 && run->job.rank == 0) {
    report_figures(report);
  }
  return code;
}

static int solve(Run* run) {
  long long nonzeros = (long long)run->matrix.start[run->matrix.rows];
  Report report = {.job = &run->job,
                   .options = &run->options,
                   .solver = &run->solver,
                   .plan = has_tasks(run) ? &run->plan : NULL,
                   .order = run->rows.first[run->rows.ranks]};
  MPI_Allreduce(&nonzeros, &report.nonzeros, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
  int code = no_room(run, timed_solve(run, &report));
  if (code != 0) {
    return code;
  }
  report.verdict = verify(&run->solver);
  return judge(run, &report);
}

static int execute(Run* run, int argc, char** argv) {
  Failure failure = {0};
  Options* options = &run->options;
  options_parse(options, argc, argv, &failure);
  job_check_thread_support(&run->job, &failure);
  if (!options->help && has_tasks(run)) {
    tasks_check(&options->tiling, &options->tasks, options->tolerance > 0, &run->entries, &failure);
  }
  if (!options->help && speculates(run)) {
    speculate_check(&options->tiling, &options->tasks, has_tasks(run) && options->tolerance > 0, &run->entries,
                    &failure);
  }
  int code;
  if (!job_goes_on(&run->job, &failure, options->help, options_print_usage, &code)) {
    return code;
  }
  code = prepare(run);
  return code != 0 ? code : solve(run);
}

int main(int argc, char** argv) {
  Run run = {.job = job_start("hpccg", &argc, &argv), .entries = entries_find()};
  int code = execute(&run, argc, argv);
  plan_destroy(&run.plan);
  solver_destroy(&run.solver);
  halo_destroy(&run.halo);
  matrix_destroy(&run.matrix);
  rows_destroy(&run.rows);
  market_close(&run.file);
  MPI_Finalize();
  return code;
}
