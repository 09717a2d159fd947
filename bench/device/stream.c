/* SPDX-License-Identifier: Apache-2.0
 *
 * How fast regions go through arrays that have been mapped once, as programs do that measure memory: copy, mul, add,
 * triad and dot, one blocking region each, `times` times. On a cluster that shows what is looked at besides the
 * arrays' own bytes.
 *
 *     device-stream-cpu [numbers] [times]
 *
 * Figures in GB/s, of the bytes that the loop itself reads and writes, of the median round: `copy`, `mul`, `add`,
 * `triad`, `dot`; and `cpu` in ns of the program's own CPU time for each kernel.
 */
#include "device.h"

enum { kLoops = 5 };

static const double kScale = 0.4;

static void copy(long n, double* a, double* b, double* c) {
  (void)b;
#pragma omp target teams distribute parallel for
  for (long i = 0; i < n; ++i) c[i] = a[i];
}

static void mul(long n, double* a, double* b, double* c) {
  (void)a;
#pragma omp target teams distribute parallel for
  for (long i = 0; i < n; ++i) b[i] = kScale * c[i];
}

static void add(long n, double* a, double* b, double* c) {
#pragma omp target teams distribute parallel for
  for (long i = 0; i < n; ++i) c[i] = a[i] + b[i];
}

static void triad(long n, double* a, double* b, double* c) {
#pragma omp target teams distribute parallel for
  for (long i = 0; i < n; ++i) a[i] = b[i] + kScale * c[i];
}

static double g_sum;

static void dot(long n, double* a, double* b, double* c) {
  (void)c;
  double sum = 0;
#pragma omp target teams distribute parallel for map(tofrom : sum) reduction(+ : sum)
  for (long i = 0; i < n; ++i) sum += a[i] * b[i];
  g_sum = sum;
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(long, double*, double*, double*);
    int arrays;
  } kLoop[kLoops] = {{"copy", copy, 2}, {"mul", mul, 2}, {"add", add, 3}, {"triad", triad, 3}, {"dot", dot, 2}};
  long n = argc > 1 ? device_number("numbers", argv[1], 1L << 32) : 1L << 22;
  long times = argc > 2 ? device_number("times", argv[2], 100000) : 30;
  double *a = malloc((size_t)n * sizeof *a), *b = malloc((size_t)n * sizeof *b), *c = malloc((size_t)n * sizeof *c);
  double* took = malloc((size_t)(kLoops * times) * sizeof *took);
  if (!a || !b || !c || !took) bench_fail("no memory for arrays of %ld numbers", n);
  device_begin();
#pragma omp target enter data map(alloc : a[0 : n], b[0 : n], c[0 : n])
#pragma omp target teams distribute parallel for
  for (long i = 0; i < n; ++i) {
    a[i] = 0.1;
    b[i] = 0.2;
    c[i] = 0;
  }
  double cpu = device_cpu_now();
  for (long t = 0; t < times; ++t) {
    for (int l = 0; l < kLoops; ++l) {
      double begin = bench_now();
      kLoop[l].run(n, a, b, c);
      took[l * times + t] = bench_now() - begin;
    }
  }
  cpu = device_cpu_now() - cpu;
  double a_is = 0.1, b_is = 0.2, c_is = 0;
  for (long t = 0; t < times; ++t) {
    c_is = a_is;
    b_is = kScale * c_is;
    c_is = a_is + b_is;
    a_is = b_is + kScale * c_is;
  }
#pragma omp target exit data map(from : a[0 : n], b[0 : n], c[0 : n])
  double sum_is = a_is * b_is * (double)n, off = g_sum > sum_is ? g_sum - sum_is : sum_is - g_sum;
  for (long i = 0; i < n; ++i) {
    if (a[i] != a_is || b[i] != b_is || c[i] != c_is) bench_fail("element %ld is %g, %g, %g", i, a[i], b[i], c[i]);
  }
  if (off > 1e-8 * sum_is) bench_fail("the sum is %g instead of %g", g_sum, sum_is);
  for (int l = 0; l < kLoops; ++l) {
    double bytes = (double)kLoop[l].arrays * (double)n * sizeof(double);
    bench_say(kLoop[l].name, bytes / bench_median(took + l * times, (int)times), "GB/s");
  }
  bench_say("cpu", cpu / (double)(kLoops * times), "ns");
  return 0;
}
