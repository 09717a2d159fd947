/* SPDX-License-Identifier: Apache-2.0
 *
 * MPI, one thread per rank, which waits for all messages of a step before it starts the next. Two drivers:
 * mpi: the receives of a step are posted before its tasks run, and each output leaves right after its task. So a rank
 * waits for its neighbours only.
 * mpi_bulk (with BULK): all tasks of a step, then all messages of the step. Nothing is in flight while tasks run.
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

#ifdef BULK
static const char kDriver[] = "mpi_bulk";

/* Runs the own tasks of step t, and starts its messages. Returns how many. */
static int run_step(const struct Bench* bench, long t) {
  long last = exchange_last_at(&exchange, bench, t);
  for (long i = exchange.first; i < last; ++i) bench_run_task(bench, t, i);
  int started = exchange_start_receives(&exchange, bench, t, requests);
  return started + exchange_start_sends(&exchange, bench, t, requests + started);
}
#else
static const char kDriver[] = "mpi";

static int run_step(const struct Bench* bench, long t) {
  int started = exchange_start_receives(&exchange, bench, t, requests);
  struct Messages sends = exchange_of(exchange.sends, bench, t);
  long last = exchange_last_at(&exchange, bench, t), next = 0;
  for (long i = exchange.first; i < last; ++i) {
    bench_run_task(bench, t, i);
    for (; next < sends.count && sends.at[next].column == i; ++next)
      exchange_start_send(bench, t, sends.at[next], &requests[started + next]);
  }
  return started + (int)next;
}
#endif

static void execute(struct Bench* bench) {
  for (long t = 0; t < bench->options.graph.steps; ++t) MPI_Waitall(run_step(bench, t), requests, MPI_STATUSES_IGNORE);
}

static void finish(struct Bench* bench) {
  (void)bench;
  exchange_free(&exchange);
  free(requests);
}

int main(int argc, char** argv) {
  ranks = ranks_start(&argc, &argv, MPI_THREAD_SINGLE);
  const struct Driver driver = {kDriver, start, execute, finish, ranks, NULL};
  return ranks_finish(taskbench_main(argc, argv, &driver));
}
