/* SPDX-License-Identifier: Apache-2.0
 *
 * Tiled Cholesky factorisation with MPI processes, OpenMP threads and dependent tasks, some of which call plain
 * blocking MPI. This file is the course of a run; each step is collective, and after each step that can fail the
 * processes agree (common/job.h) whether to go on. Everything here runs on the main thread.
 */
#include <float.h>
#include <mpi.h>
#include <stdio.h>

#include "factorise.h"
#include "failure.h"
#include "generate.h"
#include "job.h"
#include "kernels.h"
#include "layout.h"
#include "matrix.h"
#include "matrix_market.h"
#include "options.h"
#include "panel.h"
#include "report.h"
#include "target.h"
#include "verify.h"

static void choose_grid(Options* options, const Job* job, Failure* failure) {
  if (options->grid[0] == 0) {
    MPI_Dims_create(job->ranks, 2, options->grid);
  } else if ((long long)options->grid[0] * options->grid[1] != job->ranks) {
    failure_note(failure, kExitInput, "the process grid %dx%d does not have as many places as there are ranks: %d",
                 options->grid[0], options->grid[1], job->ranks);
  }
}

static void check_tags(const Layout* layout, Failure* failure) {
  int bound = job_largest_tag();
  long long tag = panel_largest_tag(layout);
  if (tag > bound) {
    failure_note(failure, kExitInput, "tiles of %d need message tags up to %lld, this MPI has %d; use larger tiles",
                 layout->tile, tag, bound);
  }
}

/* Everything that a run holds; destroyed in one place however it ends. */
typedef struct {
  Options options;
  MarketFile file;
  Layout layout;
  Matrix matrix;
  Panel panel;
  Verification verification;
} Run;

static int prepare(Run* run, const Job* job) {
  Failure failure = {0};
  Options* options = &run->options;
  if (options->file) {
    market_open(&run->file, options->file, &failure);
    options->n = run->file.n;
  }
  int code = job_agree(job, &failure);
  if (code != 0) {
    return code;
  }
  run->layout = layout_make(options->n, options->tile, options->grid[0], options->grid[1], job->rank);
  check_tags(&run->layout, &failure);
  if (failure.code == 0 && (!matrix_create(&run->matrix, &run->layout) || !panel_create(&run->panel, &run->layout) ||
                            (!options->no_check && !verify_create(&run->verification, &run->layout)))) {
    failure_note(&failure, kExitInput, "not enough memory for a matrix of order %d in tiles of %d", options->n,
                 run->layout.tile);
  }
  return job_agree(job, &failure);
}

static int load(Run* run, const Job* job) {
  Failure failure = {0};
  if (run->options.file) {
    matrix_read(&run->file, &run->matrix, &failure);
  } else {
    generate_matrix(&run->matrix, run->options.seed);
  }
  return job_agree(job, &failure);
}

static void factorise_once(Run* run) {
  if (run->options.target) {
    target_factorise(&run->matrix);
  } else {
    factorise(&run->matrix, &run->panel);
  }
}

/* The time of the slowest process. */
static double timed_factorise(Run* run) {
  MPI_Barrier(MPI_COMM_WORLD);
  double start = MPI_Wtime();
  factorise_once(run);
  double seconds = MPI_Wtime() - start;
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return seconds;
}

static int solve(Run* run, const Job* job) {
  const Options* options = &run->options;
  Failure failure = {0};
  if (!options->no_check) {
    verify_keep(&run->verification, &run->matrix);
  }
  Report report = {.layout = &run->layout,
                   .file = options->file,
                   .seed = options->seed,
                   .ranks = job->ranks,
                   .threads = job->threads,
                   .checked = !options->no_check,
                   .tolerance = 10.0 * run->layout.n * DBL_EPSILON};
  report.seconds = timed_factorise(run);
  int minor = factorise_bad_minor(&run->matrix);
  if (minor != 0) {
    failure_note(&failure, kExitWrong,
                 "the matrix is not positive definite: its leading minor of order %d is not positive", minor);
    return job_agree(job, &failure);
  }
  if (!options->no_check) {
    report.norm = run->verification.norm_a;
    report.residual = verify_residual(&run->verification, &run->matrix, &run->panel);
  }
  report.passed = report.residual <= report.tolerance;
  if (job->rank == 0) {
    report_print(&report, options->json);
  }
  if (!report.passed) {
    failure_note(&failure, kExitWrong, "the relative residual %.3e exceeds 10 n eps = %.3e", report.residual,
                 report.tolerance);
  }
  return job_agree(job, &failure);
}

static int execute(Run* run, const Job* job) {
  int code = prepare(run, job);
  if (code == 0) {
    code = load(run, job);
  }
  for (int round = 1; round < run->options.rounds && code == 0; ++round) {
    factorise_once(run);
    code = load(run, job);
  }
  return code != 0 ? code : solve(run, job);
}

static int start(Run* run, Job* job, int argc, char** argv) {
  Failure failure = {0};
  options_parse(&run->options, argc, argv, &failure);
  choose_grid(&run->options, job, &failure);
  job_check_thread_support(job, &failure);
  if (failure.code == 0 && run->options.target && !run->options.help) {
    target_check(job, &failure);
  }
  int code = job_agree(job, &failure);
  if (code == 0 && run->options.help) {
    if (job->rank == 0) {
      options_print_usage();
    }
    return 0;
  }
  return code != 0 ? code : execute(run, job);
}

int main(int argc, char** argv) {
  Job job = job_start("cholesky", &argc, &argv);
  kernels_use_one_thread();
  Run run = {0};
  int code = start(&run, &job, argc, argv);
  verify_destroy(&run.verification);
  panel_destroy(&run.panel);
  matrix_destroy(&run.matrix);
  market_close(&run.file);
  MPI_Finalize();
  return code;
}
