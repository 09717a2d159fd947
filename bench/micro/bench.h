/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts that all microbenchmarks share: the clock, self-calibrated repetition, and the output that studies read. A
 * program is plain OpenMP C and knows nothing of the runtime that serves it, so one binary can be compared on several.
 * Used by the program's main thread; only bench_now and bench_fail may be called from any thread. The invariant: a
 * figure is printed only after the result of *every* round that it times has been checked; a wrong result ends the
 * program with a message and status 1, and so never becomes a data point.
 *
 * Output, one line each: `FIGURE VALUE UNIT`, and remarks `# KEY VALUE`. Options: --ms MS (length of one sample),
 * --only FIGURE, --rounds N (run the rounds once, print no time: for counting instructions). The number of threads
 * comes from OMP_NUM_THREADS, as in any OpenMP program.
 */
#ifndef MARLINE_BENCH_H
#define MARLINE_BENCH_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kBenchSamples = 7, kBenchLine = 64 };

/* One thing to measure. body(rounds) performs rounds * ops_per_round operations; check(rounds), outside the timed
 * section, returns 1 if the results of body are right. */
struct BenchFigure {
  const char* name;
  const char* unit; /* nanoseconds per operation; the name of that unit */
  long ops_per_round;
  void (*body)(long rounds);
  int (*check)(long rounds);
  double (*spent)(void); /* the part of the last body's time that the figure is about, in ns; NULL: all of it */
};

struct BenchOptions {
  double sample_ns;
  long rounds; /* > 0: run exactly these, once */
  const char* only;
};

static struct BenchOptions bench_options = {20e6, 0, NULL};

static inline double bench_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

__attribute__((format(printf, 1, 2), noreturn)) static inline void bench_fail(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("bench: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  exit(1);
}

static inline void bench_say(const char* name, double value, const char* unit) {
  printf("%s %.3f %s\n", name, value, unit);
}

static inline int bench_compare(const void* a, const void* b) {
  double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static inline double bench_median(double* values, int count) {
  qsort(values, (size_t)count, sizeof values[0], bench_compare);
  return count % 2 ? values[count / 2] : 0.5 * (values[count / 2 - 1] + values[count / 2]);
}

#ifdef _OPENMP
/* Prints which shared object serves the compiler's own entry point. So each run's output shows if the environment
 * was meant to replace the runtime and did not. */
static inline void bench_name_runtime(void) {
#ifdef __clang__
  extern void __kmpc_fork_call(void);
  void* entry = (void*)__kmpc_fork_call;
#else
  extern void GOMP_parallel(void);
  void* entry = (void*)GOMP_parallel;
#endif
  Dl_info info;
  if (!dladdr(entry, &info) || !info.dli_fname) bench_fail("no shared object holds the OpenMP entry: static link?");
  printf("# runtime %s\n", info.dli_fname);
}
#else
static inline void bench_name_runtime(void) {}
#endif

static inline void bench_init(int argc, char** argv) {
  for (int i = 1; i < argc; i += 2) {
    const char* value = i + 1 < argc ? argv[i + 1] : NULL;
    if (value && !strcmp(argv[i], "--ms") && atof(value) > 0)
      bench_options.sample_ns = 1e6 * atof(value);
    else if (value && !strcmp(argv[i], "--rounds") && atol(value) > 0)
      bench_options.rounds = atol(value);
    else if (value && !strcmp(argv[i], "--only"))
      bench_options.only = value;
    else
      bench_fail("bad argument %s: usage: %s [--ms MS] [--only FIGURE] [--rounds N]", argv[i], argv[0]);
  }
  bench_name_runtime();
}

static inline double bench_time(const struct BenchFigure* figure, long rounds) {
  double start = bench_now();
  figure->body(rounds);
  double elapsed = bench_now() - start;
  if (!figure->check(rounds)) bench_fail("%s: wrong result after %ld rounds", figure->name, rounds);
  return figure->spent ? figure->spent() : elapsed;
}

/* Doubles the rounds until a sample is long enough: warms up caches, pools and the team on the way. */
static inline long bench_calibrate(const struct BenchFigure* figure) {
  long rounds = 1;
  while (bench_time(figure, rounds) < 0.7 * bench_options.sample_ns) rounds *= 2;
  return rounds;
}

/* Measures a figure and prints the median of its samples. Returns 1 if it was asked for, 0 if --only names another. */
static inline int bench_figure(const struct BenchFigure* figure) {
  if (bench_options.only && strcmp(bench_options.only, figure->name)) return 0;
  if (bench_options.rounds) {
    bench_time(figure, bench_options.rounds);
    printf("# operations %ld\n", bench_options.rounds * figure->ops_per_round);
    return 1;
  }
  long rounds = bench_calibrate(figure);
  double samples[kBenchSamples];
  for (int i = 0; i < kBenchSamples; ++i)
    samples[i] = bench_time(figure, rounds) / ((double)rounds * (double)figure->ops_per_round);
  bench_say(figure->name, bench_median(samples, kBenchSamples), figure->unit);
  return 1;
}

/* Measures all figures of a program; its exit status. */
static inline int bench_main(int argc, char** argv, const struct BenchFigure* figures, int count) {
  bench_init(argc, argv);
  int done = 0;
  for (int i = 0; i < count; ++i) done += bench_figure(&figures[i]);
  if (!done) bench_fail("no figure is called %s", bench_options.only);
  return 0;
}

#endif
