/* SPDX-License-Identifier: Apache-2.0
 *
 * How the OpenMP drivers create task (t, i): `in` for each input, `out` for the output. `out` on a cell also orders the
 * task after the readers of the cell's former output, that of step t - slots; README.md discusses this. A task with an
 * output that is not read writes no cell and declares no `out`; if it has no input either, it declares nothing. Called
 * by the one thread that creates tasks.
 */
#ifndef MARLINE_TASKBENCH_CREATE_TASK_H
#define MARLINE_TASKBENCH_CREATE_TASK_H

#include "driver.h"

static inline char* column_of(char* row, size_t bytes, int32_t column) { return row + (size_t)column * bytes; }

static inline void create_task(const struct Bench* bench, long t, long i) {
  long count;
  const int32_t* from = bench_inputs(bench, t, i, &count);
  size_t bytes = bench->cell_bytes;
  char *out = bench_cell(bench, t, i), *row = bench_row(bench, t + bench->options.slots - 1);
  if (bench_is_read(bench, t, i)) {
#pragma omp task firstprivate(bench, t, i) depend(iterator(long k = 0 : count), in : *column_of(row, bytes, from[k])) \
    depend(out : *out)
    bench_run_task(bench, t, i);
  } else if (count) {
#pragma omp task firstprivate(bench, t, i) depend(iterator(long k = 0 : count), in : *column_of(row, bytes, from[k]))
    bench_run_task(bench, t, i);
  } else {
#pragma omp task firstprivate(bench, t, i)
    bench_run_task(bench, t, i);
  }
}

#endif
