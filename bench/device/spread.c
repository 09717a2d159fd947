/* SPDX-License-Identifier: Apache-2.0
 *
 * Deferred regions without order, each with a block of its own that is mapped already: how long all of them take on a
 * device that consists of several, GPUs, processors or both (MARLINE_DEVICES=cluster:gpu, cluster, cluster:all).
 *
 *     spread REGIONS KIB SWEEPS     each region goes that often over its block, 16 operations for a number
 *
 * Figures in ms: `first`, the first time, when the runtime does not know how long a region takes on which device;
 * `spread`, the median of the next ones.
 */
#include "device.h"

enum { kTimes = 7 };

static double milliseconds(void) { return 1e-6 * bench_now(); }

static void spread(float* x, long regions, long n, long sweeps) {
#pragma omp parallel
#pragma omp single
  for (long r = 0; r < regions; ++r) {
    float* block = x + r * n;
#pragma omp target teams distribute parallel for nowait map(tofrom : block[0 : n])
    for (long i = 0; i < n; ++i) {
      float value = block[i];
      for (long s = 0; s < 8 * sweeps; ++s) value = value * 0.999f + 0.5f;
      block[i] = value;
    }
  }
}

int main(int argc, char** argv) {
  if (argc != 4) bench_fail("usage: %s REGIONS KIB SWEEPS", argv[0]);
  long regions = device_number("REGIONS", argv[1], 1000000), n = device_number("KIB", argv[2], 1 << 20) << 8;
  long sweeps = device_number("SWEEPS", argv[3], 1000000);
  device_begin();
  float* x = calloc((size_t)(regions * n), sizeof *x);
  double took[kTimes];
  if (!x) bench_fail("spread: not enough memory");
#pragma omp target enter data map(to : x[0 : regions * n])
  for (int t = -1; t < kTimes; ++t) {
    double begin = milliseconds();
    spread(x, regions, n, sweeps);
    double time = milliseconds() - begin;
    if (t < 0)
      bench_say("first", time, "ms");
    else
      took[t] = time;
  }
  bench_say("spread", bench_median(took, kTimes), "ms");
#pragma omp target exit data map(from : x[0 : regions * n])
  for (long i = 1; i < regions * n; ++i) /* a GPU rounds once for both operations */
    if (x[i] < x[0] * 0.999f || x[i] > x[0] * 1.001f)
      bench_fail("spread: number %ld is %g, and the first one %g", i, (double)x[i], (double)x[0]);
  free(x);
  return 0;
}
