/* SPDX-License-Identifier: Apache-2.0
 *
 * The interface for drivers: the graph laid out in memory, and bench_run_task, which does all work of a task. An output
 * is in a cell; column i has `slots` cells, and step t writes cell t % slots. It carries a stamp (step, column, digest)
 * at the start of every cache line and at its end, and a reader checks every stamp of every input: it accesses all
 * cache lines of its inputs, as the consumer of real data would, at a cost of about one load per line.
 *
 * The invariant that makes a wrong order visible: the step in a stamp counts on from run to run, so no cell ever holds
 * an old output that could pass for a new one; and a task's digest is a hash over the digests of its inputs, so the sum
 * of all digests is right only if every task ran exactly once on the right inputs.
 *
 * A cell is written by one task and read by its readers; the driver's dependences order them. A Worker belongs to the
 * thread that made it; the main thread reads all of them when no task runs.
 */
#ifndef MARLINE_TASKBENCH_TASK_H
#define MARLINE_TASKBENCH_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fail.h"
#include "options.h"
#include "plan.h"

struct Bench {
  struct Options options;
  struct Plan plan;
  char* cells;
  size_t cell_bytes; /* output_bytes, rounded up to whole cache lines */
  size_t row_bytes;  /* of the cells of one step */
  long run;          /* 0: the first warm-up; changes only when no task runs */
  long workers;      /* set by the driver: all of them, over all ranks */
};

void bench_prepare(struct Bench* bench);
void bench_free(struct Bench* bench);

static inline long bench_phase(const struct Bench* bench, long t) { return cycle_phase(bench->plan.cycle, t); }

/* Columns of step t - 1 that task (t, i) reads. */
static inline const int32_t* bench_inputs(const struct Bench* bench, long t, long i, long* count) {
  return plan_inputs(&bench->plan, bench_phase(bench, t), i, count);
}

/* Does step t + 1 read (t, i)? If not, the output goes to memory of the worker's own, and needs no dependence. */
static inline bool bench_is_read(const struct Bench* bench, long t, long i) {
  if (t + 1 >= bench->options.graph.steps) return false;
  return bench->plan.read[bench_phase(bench, t + 1) * bench->options.graph.width + i];
}

/* All cells that step t writes. The row before it is also that of step t + slots - 1, which is never negative. */
static inline char* bench_row(const struct Bench* bench, long t) {
  return bench->cells + (size_t)(t & (bench->options.slots - 1)) * bench->row_bytes;
}

static inline char* bench_cell(const struct Bench* bench, long t, long i) {
  return bench_row(bench, t) + (size_t)i * bench->cell_bytes;
}

/* The step number in the stamps of step t. */
static inline uint32_t bench_stamp_step(const struct Bench* bench, long t) {
  return (uint32_t)(bench->run * bench->options.graph.steps + t + 1); /* 0 is a cell that was never written */
}

/* Checks the inputs, runs the kernel, writes the output. By any thread; never suspends. */
void bench_run_task(const struct Bench* bench, long t, long i);

struct Tally {
  uint64_t tasks;
  uint64_t digests; /* sum, modulo 2^64 */
  uint64_t dependences;
  uint64_t iterations;
  uint64_t unread, unread_digests; /* of the tasks with an output that is not read */
};

/* The tally of the last run's tasks in this process; starts the next count at zero. Tasks and digests only. */
struct Tally bench_take_tally(void);
/* The tally that they should have, computed task by task in order. */
struct Tally bench_expected(const struct Bench* bench);

#endif
