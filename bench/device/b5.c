/* SPDX-License-Identifier: Apache-2.0
 *
 * B5 of "Suspending OpenMP tasks on asynchronous events" (Pereira et al., IWOMP 2022, listing 1.2): one thread creates T
 * triplets of deferred device constructs, ordered by dependences within a triplet: an update to the device of n numbers, a
 * kernel of n * n / 2 steps, an update from the device. Up to T triplets are under way at once. The listing's loop from t*n
 * to n is empty for t >= 1; here the kernel's pointers are moved by t*n instead, as its text means.
 *
 * Figures: `b5_N`, wall time per triplet, and `b5_cpu_N`, the program's CPU time per triplet, for N = 2^4, 2^5, ... up to
 * --to (default 2^9; the paper's is 2^16). All of y is checked after each sample. --triplets sets T (64).
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kSamples = 7, kSmallest = 16, kLargest = 1 << 16 };

static double seconds(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void b5(double a, const double *x, double *y, int triplets, int n) {
#pragma omp parallel
#pragma omp single
  for (int t = 0; t < triplets; ++t) {
    double *part = y + (size_t)t * (size_t)n;
#pragma omp target update to(part[0 : n]) nowait depend(inout : part[0])
#pragma omp target teams distribute parallel for nowait depend(inout : part[0]) map(alloc : part[0 : n], x[0 : n])
    for (int i = 0; i < n; ++i)
      for (int j = 0; j <= i; ++j)
        part[i] += a * x[j];
#pragma omp target update from(part[0 : n]) nowait depend(inout : part[0])
  }
}

/* x[j] = 1, a = 1: element i grows by i + 1 each time. */
static int is_right(const double *y, int triplets, int n, int times) {
  for (int t = 0; t < triplets; ++t)
    for (int i = 0; i < n; ++i)
      if (y[(size_t)t * (size_t)n + (size_t)i] != (double)times * (i + 1))
        return 0;
  return 1;
}

static int by_value(const void *a, const void *b) {
  double difference = *(const double *)a - *(const double *)b;
  return (difference > 0) - (difference < 0);
}

static void measure(int triplets, int n) {
  size_t all = (size_t)triplets * (size_t)n;
  double *x = malloc((size_t)n * sizeof *x), *y = calloc(all, sizeof *y);
  double wall[kSamples], cpu[kSamples];
  if (!x || !y) {
    fprintf(stderr, "b5: no memory for %zu numbers\n", all);
    exit(1);
  }
  for (int j = 0; j < n; ++j)
    x[j] = 1;
#pragma omp target enter data map(to : x[0 : n], y[0 : all])
  b5(1, x, y, triplets, n); /* the first use of everything */
  for (int s = 0; s < kSamples; ++s) {
    double begin = seconds(CLOCK_MONOTONIC), begin_cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    b5(1, x, y, triplets, n);
    wall[s] = 1e6 * (seconds(CLOCK_MONOTONIC) - begin) / triplets;
    cpu[s] = 1e6 * (seconds(CLOCK_PROCESS_CPUTIME_ID) - begin_cpu) / triplets;
    if (!is_right(y, triplets, n, s + 2)) {
      fprintf(stderr, "b5: wrong numbers for n = %d\n", n);
      exit(1);
    }
  }
#pragma omp target exit data map(release : x[0 : n], y[0 : all])
  qsort(wall, kSamples, sizeof *wall, by_value);
  qsort(cpu, kSamples, sizeof *cpu, by_value);
  printf("b5_%d %.3f us\nb5_cpu_%d %.3f us\n", n, wall[kSamples / 2], n, cpu[kSamples / 2]);
  free(x);
  free(y);
}

static int number(const char *option, const char *text, int most) {
  char *end;
  long value = text ? strtol(text, &end, 10) : 0;
  if (value < 1 || value > most || *end != '\0') {
    fprintf(stderr, "b5: %s wants a number from 1 to %d, not %s\n", option, most, text ? text : "nothing");
    exit(2);
  }
  return (int)value;
}

int main(int argc, char **argv) {
  int triplets = 64, last = 512;
  for (int i = 1; i < argc; i += 2) {
    if (strcmp(argv[i], "--triplets") == 0) {
      triplets = number(argv[i], argv[i + 1], 100000);
    } else if (strcmp(argv[i], "--to") == 0) {
      last = number(argv[i], argv[i + 1], kLargest);
    } else {
      fprintf(stderr, "b5: no option %s; there are --triplets T and --to N\n", argv[i]);
      return 2;
    }
  }
  for (int n = kSmallest; n <= last; n *= 2)
    measure(triplets, n);
  return 0;
}
