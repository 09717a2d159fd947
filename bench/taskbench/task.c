/* SPDX-License-Identifier: Apache-2.0
 *
 * The body of every task, the cells of outputs, and the reference that a run is compared with. task.h describes
 * ownership and the invariant.
 */
#define _GNU_SOURCE
#include "task.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "stamp.h"

struct Worker {
  struct Worker* next;
  uint64_t tasks, digests;
  double product; /* of the kernels */
  struct Scratch scratch;
  char* unread; /* memory for outputs that are not read */
};

/* A thread pushes its worker once; the main thread walks the list when no task runs. Release pairs with its acquire. */
static _Atomic(struct Worker*) all_workers;
static _Thread_local struct Worker* own_worker;

static struct Worker* make_worker(const struct Bench* bench) {
  struct Worker* worker = allocate(sizeof *worker);
  worker->unread = allocate(bench->cell_bytes);
  if (bench->options.kernel.kind == kMemory) worker->scratch.data = allocate(bench->options.kernel.scratch_bytes);
  worker->next = atomic_load_explicit(&all_workers, memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit(&all_workers, &worker->next, worker, memory_order_release,
                                                memory_order_relaxed)) {
  }
  return worker;
}

void bench_prepare(struct Bench* bench) {
  const struct Options* options = &bench->options;
  plan_build(&bench->plan, &options->graph);
  bench->cell_bytes = ((size_t)options->output_bytes + kLine - 1) / kLine * kLine;
  bench->row_bytes = (size_t)options->graph.width * bench->cell_bytes;
  bench->cells = allocate((size_t)options->slots * bench->row_bytes);
}

void bench_free(struct Bench* bench) {
  plan_free(&bench->plan);
  free(bench->cells);
  struct Worker* next;
  for (struct Worker* worker = atomic_exchange_explicit(&all_workers, NULL, memory_order_acquire); worker;
       worker = next) {
    next = worker->next;
    free(worker->unread);
    free(worker->scratch.data);
    free(worker);
  }
}

__attribute__((noreturn, cold)) static void refuse(const struct Bench* bench, long t, long i, size_t byte,
                                                   struct Stamp is, struct Stamp expected) {
  fail(
      "run %ld: task (%ld, %ld) read the output of (%ld, %u) and found at byte %zu: stamp %u, column %u, digest "
      "%016llx, "
      "expected %u, %u, %016llx",
      bench->run, t, i, t - 1, expected.column, byte, is.step, is.column, (unsigned long long)is.digest, expected.step,
      expected.column, (unsigned long long)expected.digest);
}

/* The input's digest, after a check of each of its stamps. */
static uint64_t check_input(const struct Bench* bench, const char* cell, long t, long i, int32_t column) {
  struct Stamp first, is;
  size_t at;
  const uint32_t step = bench_stamp_step(bench, t - 1);
  if (!stamp_check(cell, (size_t)bench->options.output_bytes, step, (uint32_t)column, &first, &is, &at))
    refuse(bench, t, i, at, is, (struct Stamp){step, (uint32_t)column, first.digest});
  return first.digest;
}

void bench_run_task(const struct Bench* bench, long t, long i) {
  struct Worker* worker = own_worker;
  if (!worker) worker = own_worker = make_worker(bench);
  uint64_t sum = 0;
  if (t > 0) {
    long count;
    const int32_t* inputs = bench_inputs(bench, t, i, &count);
    const char* row = bench_row(bench, t - 1);
    for (long k = 0; k < count; ++k)
      sum += check_input(bench, row + (size_t)inputs[k] * bench->cell_bytes, t, i, inputs[k]);
  }
  worker->product += kernel_run(&bench->options.kernel, t, i, &worker->scratch);
  struct Stamp stamp = {bench_stamp_step(bench, t), (uint32_t)i, stamp_digest(t, i, sum)};
  stamp_write(bench_is_read(bench, t, i) ? bench_cell(bench, t, i) : worker->unread,
              (size_t)bench->options.output_bytes, stamp);
  ++worker->tasks;
  worker->digests += stamp.digest;
}

struct Tally bench_take_tally(void) {
  struct Tally tally = {0};
  struct Worker* worker = atomic_load_explicit(&all_workers, memory_order_acquire);
  for (; worker; worker = worker->next) {
    tally.tasks += worker->tasks;
    tally.digests += worker->digests;
    worker->tasks = worker->digests = 0;
  }
  return tally;
}

struct Tally bench_expected(const struct Bench* bench) {
  const struct Graph* graph = &bench->options.graph;
  struct Tally tally = {0};
  uint64_t* rows = allocate(2 * (size_t)graph->width * sizeof *rows);
  for (long t = 0; t < graph->steps; ++t) {
    uint64_t *own = rows + t % 2 * graph->width, *before = rows + (t + 1) % 2 * graph->width;
    for (long i = 0; i < graph_width_at(graph, t); ++i) {
      long count;
      const int32_t* inputs = bench_inputs(bench, t, i, &count);
      uint64_t sum = 0;
      for (long k = 0; k < count; ++k) sum += before[inputs[k]];
      own[i] = stamp_digest(t, i, sum);
      if (!bench_is_read(bench, t, i)) tally.unread_digests += own[i], ++tally.unread;
      ++tally.tasks;
      tally.digests += own[i];
      tally.dependences += (uint64_t)count;
      tally.iterations += (uint64_t)kernel_iterations(&bench->options.kernel, t, i);
    }
  }
  free(rows);
  return tally;
}
