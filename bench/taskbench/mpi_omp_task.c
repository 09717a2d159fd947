/* SPDX-License-Identifier: Apache-2.0
 *
 * MPI and OpenMP tasks: besides the tasks of the graph, every message is a task that calls blocking MPI_Send or
 * MPI_Recv, ordered by the cell that it reads or writes. Correct OpenMP and MPI, but it ends for certain only if a task
 * that blocks in MPI gives its thread to other tasks, as on Marline. Otherwise all threads may block in MPI_Recv while
 * the tasks that would send are still queued.
 */
#include "create_task.h"
#include "omp.h"
#include "ranks.h"

static struct Exchange exchange;
static const struct Ranks* ranks;

static void create_send(const struct Bench* bench, long t, struct Message message) {
  char* cell = bench_cell(bench, t, message.column);
  int bytes = (int)bench->options.output_bytes, tag = exchange_tag(bench, t, message.column);
#pragma omp task untied firstprivate(cell, bytes, tag, message) depend(in : *cell)
  MPI_Send(cell, bytes, MPI_BYTE, message.peer, tag, MPI_COMM_WORLD);
}

static void create_receive(const struct Bench* bench, long t, struct Message message) {
  char* cell = bench_cell(bench, t, message.column);
  int bytes = (int)bench->options.output_bytes, tag = exchange_tag(bench, t, message.column);
#pragma omp task untied firstprivate(cell, bytes, tag, message) depend(out : *cell)
  MPI_Recv(cell, bytes, MPI_BYTE, message.peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void create_step(const struct Bench* bench, long t) {
  long last = exchange_last_at(&exchange, bench, t);
  for (long i = exchange.first; i < last; ++i) create_task(bench, t, i);
  struct Messages sends = exchange_of(exchange.sends, bench, t);
  for (long k = 0; k < sends.count; ++k) create_send(bench, t, sends.at[k]);
  struct Messages receives = exchange_of(exchange.receives, bench, t);
  for (long k = 0; k < receives.count; ++k) create_receive(bench, t, receives.at[k]);
}

static void execute(struct Bench* bench) {
#pragma omp parallel
#pragma omp single
  for (long t = 0; t < bench->options.graph.steps; ++t) create_step(bench, t);
}

static void start(struct Bench* bench) {
  exchange_build(&exchange, bench);
  bench->workers = (long)ranks->sum((uint64_t)omp_get_max_threads());
  if (ranks->rank != 0) return;
  omp_print_runtime();
  print_library("mpi", (const void*)MPI_Send);
}

static void finish(struct Bench* bench) {
  (void)bench;
  exchange_free(&exchange);
}

int main(int argc, char** argv) {
  ranks = ranks_start(&argc, &argv, MPI_THREAD_MULTIPLE);
  const struct Driver driver = {"mpi_omp_task", start, execute, finish, ranks, NULL};
  return ranks_finish(taskbench_main(argc, argv, &driver));
}
