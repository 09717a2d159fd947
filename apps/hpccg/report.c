/* SPDX-License-Identifier: Apache-2.0
 *
 * Output on rank 0; see report.h. No state.
 */
#include "report.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Per iteration: the product, two dots, three scaled sums; additions and multiplications count alike. */
static double gflops(const Report* report) {
  double operations = 2.0 * (double)report->nonzeros + 10.0 * (double)report->order;
  return operations * report->solver->iterations / report->seconds * 1e-9;
}

void report_remarks(const Report* report) {
  const Options* options = report->options;
  const Verdict* verdict = &report->verdict;
  if (options->file) {
    printf("# file %s\n", options->file);
  } else {
    printf("# size %dx%dx%d\n", options->box.nx, options->box.ny, options->box.nz);
  }
  printf("# rows %lld\n# nonzeros %lld\n", report->order, report->nonzeros);
  printf("# ranks %d\n# threads %d\n# form %s\n", report->job->ranks, report->job->threads, options_form(options));
  if (report->plan) {
    printf("# tiles %d\n# parts %d\n# dependences_named %s\n", report->plan->tiling.tiles, report->plan->tiling.parts,
           options_naming(options));
  }
  printf("# iterations %d\n", report->solver->iterations);
  printf("# first_residual %.16e\n# residual %.16e\n", verdict->norm_b, verdict->recursive);
  printf("# residual_computed %.16e\n# error %.6e\n", verdict->residual, verdict->error);
  if (verdict->bound >= 0) {
    printf("# error_bound %.6e\n", verdict->bound);
  }
  if (options->tasks.ahead > 0) {
    const SpeculationFigures* in_vain = &report->speculation;
    printf("# receives_withdrawn %llu\n# messages_drained %llu\n# calls_refused %llu\n# collectives_completed %llu\n",
           in_vain->withdrawn, in_vain->drained, in_vain->refused, in_vain->completed);
  }
  printf("check %s\n", verify_passed(verdict) ? "passed" : "failed");
  fflush(stdout);
}

void report_figures(const Report* report) {
  printf("seconds %.6f s\n", report->seconds);
  printf("gflops %.3f Gflop/s\n", gflops(report));
  if (report->plan) {
    int judging = report->options->tasks.ahead > 0 ? report->plan->tiling.tiles + 1 : 0;
    long long iterations = report->tasks.created / (plan_tasks(report->plan) + judging);
    printf("discovery_s %.6f s\n", report->tasks.discovery);
    printf("tasks %lld tasks\n", report->tasks.created);
    printf("dependences %lld dependences\n", report->plan->dependences * iterations);
    if (report->tasks.counted) {
      printf("edges %llu edges\nnodes %llu nodes\n", report->tasks.edges, report->tasks.nodes);
    }
  }
  fflush(stdout);
}

void report_history(const char* path, const Solver* solver, Failure* failure) {
  FILE* file = fopen(path, "w");
  if (!file) {
    failure_note(failure, kExitInput, "cannot open '%s': %s", path, strerror(errno));
    return;
  }
  for (int k = 0; k <= solver->iterations; ++k) {
    fprintf(file, "%d %.17e\n", k, solver->history[k]);
  }
  if (fclose(file) != 0) {
    failure_note(failure, kExitInput, "cannot write '%s': %s", path, strerror(errno));
  }
}
