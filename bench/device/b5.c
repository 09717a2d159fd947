/* SPDX-License-Identifier: Apache-2.0
 *
 * B5 of "Suspending OpenMP tasks on asynchronous events" (Pereira et al., IWOMP 2022, listing 1.2): one thread creates
 * T triplets of deferred device constructs, ordered by dependences within a triplet: an update to the device of n
 * numbers, a kernel of n * n / 2 steps, an update from the device. Up to T triplets are under way at once. The
 * listing's loop from t*n to n is empty for t >= 1; here the kernel's pointers are moved by t*n instead, as its text
 * means.
 *
 * Figures: `b5_N`, wall time per triplet, and `b5_cpu_N`, the program's CPU time per triplet, for N = --from (2^4),
 * twice that, ... up to --to (2^9; the paper's is 2^16). All of y is checked after each sample. --triplets sets T (64).
 * The numbers that are copied lie in memory that is pinned (LLVM's routine for it), as for a driver that copies while
 * the caller goes on; --pageable: in malloc's. --modelled is for emulated devices that do not compute
 * (MARLINE_EMULATOR_MODEL_ABOVE=0): then the emulator's counts say whether each sample made T kernels and T copies each
 * way.
 */
#include "device.h"

enum { kFewSamples = 5, kSamples = 21, kSmallest = 16, kLargest = 1 << 16, kSlow = 1 << 13 };

static int modelled, pageable;
extern void* llvm_omp_target_alloc_host(size_t bytes, int device);
extern void llvm_omp_target_free_host(void* memory, int device);

static void b5(double a, const double* x, double* y, int triplets, int n) {
#pragma omp parallel
#pragma omp single
  for (int t = 0; t < triplets; ++t) {
    double* part = y + (size_t)t * (size_t)n;
#pragma omp target update to(part[0 : n]) nowait depend(inout : part[0])
#pragma omp target teams distribute parallel for nowait depend(inout : part[0]) map(alloc : part[0 : n], x[0 : n])
    for (int i = 0; i < n; ++i)
      for (int j = 0; j <= i; ++j) part[i] += a * x[j];
#pragma omp target update from(part[0 : n]) nowait depend(inout : part[0])
  }
}

/* x[j] = 1, a = 1: element i grows by i + 1 each time. */
static void check_numbers(const double* y, int triplets, int n, int times) {
  for (int t = 0; t < triplets; ++t)
    for (int i = 0; i < n; ++i)
      if (y[(size_t)t * (size_t)n + (size_t)i] != (double)times * (i + 1))
        bench_fail("b5: wrong numbers for n = %d", n);
}

/* `before`: kernels, copies to the device and from it, before the sample. */
static void check_counts(const unsigned long long* before, int triplets, int n) {
  for (int what = kKernels; what <= kCopiesToHost; ++what)
    if (device_count(what) - before[what] != (unsigned long long)triplets)
      bench_fail("b5: %llu operations of kind %d, not %d, for n = %d", device_count(what) - before[what], what,
                 triplets, n);
}

static void sample(const double* x, double* y, int triplets, int n, int times) {
  unsigned long long before[kCounts];
  for (int what = kKernels; what <= kCopiesToHost; ++what) before[what] = device_count(what);
  b5(1, x, y, triplets, n);
  if (modelled)
    check_counts(before, triplets, n);
  else
    check_numbers(y, triplets, n, times);
}

static void measure(int triplets, int n) {
  size_t all = (size_t)triplets * (size_t)n;
  double *x = malloc((size_t)n * sizeof *x), *y;
  double wall[kSamples], cpu[kSamples];
  y = pageable ? malloc(all * sizeof *y) : llvm_omp_target_alloc_host(all * sizeof *y, omp_get_default_device());
  int samples = n < kSlow ? kSamples : kFewSamples; /* short ones are more easily disturbed */
  char name[kBenchLine];
  if (!x || !y) bench_fail("b5: no memory for %zu numbers", all);
  for (int j = 0; j < n; ++j) x[j] = 1;
  memset(y, 0, all * sizeof *y);
#pragma omp target enter data map(to : x[0 : n], y[0 : all])
  sample(x, y, triplets, n, 1); /* the first use of everything */
  for (int s = 0; s < samples; ++s) {
    double begin = bench_now(), begin_cpu = device_cpu_now();
    sample(x, y, triplets, n, s + 2);
    wall[s] = 1e-3 * (bench_now() - begin) / triplets;
    cpu[s] = 1e-3 * (device_cpu_now() - begin_cpu) / triplets;
  }
#pragma omp target exit data map(release : x[0 : n], y[0 : all])
  snprintf(name, sizeof name, "b5_%d", n);
  bench_say(name, bench_median(wall, samples), "us");
  snprintf(name, sizeof name, "b5_cpu_%d", n);
  bench_say(name, bench_median(cpu, samples), "us");
  free(x);
  if (pageable)
    free(y);
  else
    llvm_omp_target_free_host(y, omp_get_default_device());
}

int main(int argc, char** argv) {
  int triplets = 64, first = kSmallest, last = 512;
  for (int i = 1; i < argc; ++i) {
    if (!strcmp(argv[i], "--modelled"))
      modelled = 1;
    else if (!strcmp(argv[i], "--pageable"))
      pageable = 1;
    else if (!strcmp(argv[i], "--triplets"))
      triplets = (int)device_number(argv[i], argv[i + 1], 100000), ++i;
    else if (!strcmp(argv[i], "--from"))
      first = (int)device_number(argv[i], argv[i + 1], kLargest), ++i;
    else if (!strcmp(argv[i], "--to"))
      last = (int)device_number(argv[i], argv[i + 1], kLargest), ++i;
    else
      bench_fail("no option %s; there are --triplets T, --from N, --to N, --modelled and --pageable", argv[i]);
  }
  device_begin();
  for (int n = first; n <= last; n *= 2) measure(triplets, n);
  return 0;
}
