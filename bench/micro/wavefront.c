/* SPDX-License-Identifier: Apache-2.0
 *
 * A wavefront over the cells of grid.h; the creating thread waits after each sweep. Figures: `wavefront`, wall time per
 * task; `wavefront_create`, the part of it in which that thread creates.
 */
#include "bench.h"

#include "grid.h"

static double created_ns;

static void run(long rounds) {
  memset(grid, 0, sizeof grid);
  created_ns = 0;
#pragma omp parallel
#pragma omp single
  for (long r = 0; r < rounds; ++r) {
    double start = bench_now();
    sweep();
    created_ns += bench_now() - start;
#pragma omp taskwait
  }
}

static double create_time(void) { return created_ns; }

int main(int argc, char** argv) {
  static const struct BenchFigure figures[] = {
      {"wavefront", "ns", kSide * kSide, run, grid_is_swept, NULL},
      {"wavefront_create", "ns", kSide * kSide, run, grid_is_swept, create_time}};
  return bench_main(argc, argv, figures, 2);
}
