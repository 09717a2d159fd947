/* SPDX-License-Identifier: Apache-2.0
 *
 * MPI, non-blocking point to point, one thread per rank: the receives of a step are posted before its tasks run, each
 * output leaves right after its task, and the rank waits for all messages of a step before it starts the next. So a
 * rank waits for its neighbours only.
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

/* Runs the own tasks of step t; as each ends, its output is sent to the ranks that read it. */
static int run_step(const struct Bench* bench, long t, MPI_Request* free_requests) {
  struct Messages sends = exchange_of(exchange.sends, bench, t);
  long last = exchange_last_at(&exchange, bench, t), next = 0;
  for (long i = exchange.first; i < last; ++i) {
    bench_run_task(bench, t, i);
    for (; next < sends.count && sends.at[next].column == i; ++next)
      exchange_start_send(bench, t, sends.at[next], &free_requests[next]);
  }
  return (int)next;
}

static void execute(struct Bench* bench) {
  for (long t = 0; t < bench->options.graph.steps; ++t) {
    int started = exchange_start_receives(&exchange, bench, t, requests);
    started += run_step(bench, t, requests + started);
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
  const struct Driver driver = {"mpi", start, execute, finish, ranks, NULL};
  return ranks_finish(taskbench_main(argc, argv, &driver));
}
