/* SPDX-License-Identifier: Apache-2.0
 *
 * A chain of deferred regions, each of which adds one to all numbers of an array that is mapped already: on a device,
 * and on one that consists of several (MARLINE_DEVICES=cluster:gpu).
 *
 *     chain REGIONS KIB [apart]     apart: in turn on the members of such a device
 *
 * Figures in ms: `enter`, `target enter data` of the array; `first`, the first chain; `chain`, the median of the next
 * ones; `exit`, `target exit data`, which brings the array back.
 */
#include "device.h"

enum { kChains = 5, kChainsApart = 2 };

static double milliseconds(void) { return 1e-6 * bench_now(); }

static void chain(double* x, long n, long regions, int members) {
#pragma omp parallel
#pragma omp single
  for (long r = 0; r < regions; ++r) {
    int device = members != 0 ? 1 + (int)(r % members) : omp_get_default_device();
#pragma omp target teams distribute parallel for nowait depend(inout : x[0]) map(tofrom : x[0 : n]) device(device)
    for (long i = 0; i < n; ++i) x[i] += 1;
  }
}

int main(int argc, char** argv) {
  int is_apart = argc == 4 && !strcmp(argv[3], "apart");
  if (argc != 3 && !is_apart) bench_fail("usage: %s REGIONS KIB [apart]", argv[0]);
  long regions = device_number("REGIONS", argv[1], 1000000), n = device_number("KIB", argv[2], 1 << 24) << 7;
  int members = is_apart ? omp_get_num_devices() - 1 : 0, chains = is_apart ? kChainsApart : kChains;
  if (is_apart && members < 1) bench_fail("chain: the device has no members");
  device_begin();
  double *x = malloc((size_t)n * sizeof *x), took[kChains];
  if (!x) bench_fail("chain: not enough memory");
  for (long i = 0; i < n; ++i) x[i] = (double)i;
  double begin = milliseconds();
#pragma omp target enter data map(to : x[0 : n])
  bench_say("enter", milliseconds() - begin, "ms");
  for (int c = -1; c < chains; ++c) {
    begin = milliseconds();
    chain(x, n, regions, members);
    double time = milliseconds() - begin;
    if (c < 0)
      bench_say("first", time, "ms");
    else
      took[c] = time;
  }
  bench_say("chain", bench_median(took, chains), "ms");
  begin = milliseconds();
#pragma omp target exit data map(from : x[0 : n])
  bench_say("exit", milliseconds() - begin, "ms");
  for (long i = 0; i < n; ++i)
    if (x[i] != (double)(i + regions * (chains + 1))) bench_fail("chain: number %ld is %g", i, x[i]);
  free(x);
  return 0;
}
