/* SPDX-License-Identifier: Apache-2.0
 *
 * MPI, bulk synchronous, one thread per rank: all tasks of a step, then all messages of the step, then the next step.
 * Nothing is in flight while tasks run.
 */
#include <stdlib.h>

#include "ranks.h"

static struct Exchange exchange;
static MPI_Request* requests;
static const struct Ranks* ranks;

static void start(struct Bench* bench) {
  exchange_build(&exchange, bench);
  requests = allocate((size_t)exchange.most * sizeof *requests);
  bench->workers = ranks->count;
  if (ranks->rank == 0) print_library("runtime", (const void*)MPI_Isend);
}

static void execute(struct Bench* bench) {
  for (long t = 0; t < bench->options.graph.steps; ++t) {
    long last = exchange_last_at(&exchange, bench, t);
    for (long i = exchange.first; i < last; ++i) bench_run_task(bench, t, i);
    int started = exchange_start_receives(&exchange, bench, t, requests);
    started += exchange_start_sends(&exchange, bench, t, requests + started);
    MPI_Waitall(started, requests, MPI_STATUSES_IGNORE);
  }
}

static void finish(struct Bench* bench) {
  (void)bench;
  exchange_free(&exchange);
  free(requests);
}

int main(int argc, char** argv) {
  ranks = ranks_start(&argc, &argv, MPI_THREAD_SINGLE);
  const struct Driver driver = {"mpi_bulk", start, execute, finish, ranks, NULL};
  return ranks_finish(taskbench_main(argc, argv, &driver));
}
