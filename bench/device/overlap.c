/* SPDX-License-Identifier: Apache-2.0
 *
 * What goes on at the same time on a real GPU. Kernels work on integers, so that each result is known.
 * `kernels`: 32 kernels of one thread and MILLISECONDS each, as bodies of 32 tasks (`blocking`) and by nowait
 * (`deferred`). `pinned`, `pageable`: 12 blocks of MIB go to the device, are worked on by a kernel of MILLISECONDS and
 * come back, in memory that is pinned or not: one after the other by the initial thread (`one_by_one`); as a graph of
 * constructs with nowait
 * (`graph`); in a task for each block (`tasks`); by a region with nowait that maps its block itself (`mapping`).
 *
 * Figures in ms, the median of five: all 32 kernels, all 12 blocks; and of one block alone `to`, `kernel` and `from`.
 */
#include "device.h"

enum { kTasks = 32, kBlocks = 12, kSamples = 5 };
extern void* llvm_omp_target_alloc_host(size_t bytes, int device);
extern void llvm_omp_target_free_host(void* memory, int device);

#pragma omp begin declare target
static unsigned long work(unsigned long value, long steps) {
  for (long i = 0; i < steps; ++i) value = value * 6364136223846793005ul + 1442695040888963407ul;
  return value;
}
#pragma omp end declare target

static double milliseconds(void) { return 1e-6 * bench_now(); }

/* As many steps as take about that time, from the time of some. */
static long steps_for(double wanted, long steps, double took) {
  double more = (double)steps * wanted / took;
  return more < 1 ? 1 : (long)more;
}

/* Kernels. `cells` is in the device's memory. */
static unsigned long* cells;

static void one_kernel(long steps) {
  unsigned long* c = cells;
#pragma omp target is_device_ptr(c) firstprivate(steps)
  c[kTasks] = work(c[kTasks], steps);
}

static void blocking(long steps) {
  unsigned long* c = cells;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < kTasks; ++i) {
#pragma omp task firstprivate(i)
    {
#pragma omp target is_device_ptr(c) firstprivate(i, steps)
      c[i] = work(c[i], steps);
    }
  }
}

static void deferred(long steps) {
  unsigned long* c = cells;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < kTasks; ++i) {
#pragma omp target nowait is_device_ptr(c) firstprivate(i, steps)
    c[i] = work(c[i], steps);
  }
}

static void check_cells(long times, long steps) {
  unsigned long found[kTasks];
  omp_target_memcpy(found, cells, sizeof found, 0, 0, omp_get_initial_device(), omp_get_default_device());
  for (int i = 0; i < kTasks; i += 15) {
    if (found[i] != work((unsigned long)i, times * steps)) bench_fail("overlap: kernel %d has a wrong result", i);
  }
}

static void measure_kernels(double wanted) {
  static const struct {
    const char* name;
    void (*run)(long);
  } kForms[] = {{"blocking", blocking}, {"deferred", deferred}};
  int device = omp_get_default_device();
  unsigned long start[kTasks + 1];
  for (int i = 0; i <= kTasks; ++i) start[i] = (unsigned long)i;
  cells = omp_target_alloc(sizeof start, device);
  if (!cells) bench_fail("overlap: not enough memory");
  omp_target_memcpy(cells, start, sizeof start, 0, 0, device, omp_get_initial_device());
  long steps = 100000, times = 0;
  for (int i = 0; i < 3; ++i) {
    double begin = milliseconds();
    one_kernel(steps);
    if (i != 0) steps = steps_for(wanted, steps, milliseconds() - begin);
  }
  double one[kSamples], took[kSamples];
  for (int s = 0; s < kSamples; ++s) {
    double begin = milliseconds();
    one_kernel(steps);
    one[s] = milliseconds() - begin;
  }
  bench_say("kernel", bench_median(one, kSamples), "ms");
  for (size_t form = 0; form < sizeof kForms / sizeof *kForms; ++form) {
    for (int s = -1; s < kSamples; ++s, ++times) {
      double begin = milliseconds();
      kForms[form].run(steps);
      if (s >= 0) took[s] = milliseconds() - begin;
    }
    bench_say(kForms[form].name, bench_median(took, kSamples), "ms");
  }
  check_cells(times, steps);
  omp_target_free(cells, device);
}

/* Blocks. All numbers of a block are the same. */
static unsigned long *data, expected[kBlocks];
static long size; /* numbers of a block */

static void one_block(unsigned long* x, long steps) {
#pragma omp target update to(x[0 : size])
#pragma omp target teams distribute parallel for map(alloc : x[0 : size]) firstprivate(steps)
  for (long i = 0; i < size; ++i) x[i] = work(x[i], steps);
#pragma omp target update from(x[0 : size])
}

static void one_by_one(long steps) {
  for (int b = 0; b < kBlocks; ++b) one_block(data + b * size, steps);
}

static void in_graph(long steps) {
#pragma omp parallel
#pragma omp single
  for (int b = 0; b < kBlocks; ++b) {
    unsigned long* x = data + b * size;
#pragma omp target update to(x[0 : size]) nowait depend(inout : x[0])
#pragma omp target teams distribute parallel for map(alloc : x[0 : size]) firstprivate(steps) nowait depend( \
        inout : x[0])
    for (long i = 0; i < size; ++i) x[i] = work(x[i], steps);
#pragma omp target update from(x[0 : size]) nowait depend(inout : x[0])
  }
}

static void in_tasks(long steps) {
#pragma omp parallel
#pragma omp single
  for (int b = 0; b < kBlocks; ++b) {
#pragma omp task firstprivate(b)
    one_block(data + b * size, steps);
  }
}

static void mapping(long steps) {
#pragma omp parallel
#pragma omp single
  for (int b = 0; b < kBlocks; ++b) {
    unsigned long* x = data + b * size;
#pragma omp target teams distribute parallel for map(tofrom : x[0 : size]) firstprivate(steps) nowait
    for (long i = 0; i < size; ++i) x[i] = work(x[i], steps);
  }
}

static void check_blocks(const char* form) {
  long wrong = 0;
#pragma omp parallel for reduction(+ : wrong)
  for (long i = 0; i < kBlocks * size; ++i) wrong += data[i] != expected[i / size];
  if (wrong) bench_fail("overlap: %ld wrong numbers by %s", wrong, form);
}

/* Of the first block, by parts. Returns the steps of its kernel. */
static long measure_one(double wanted) {
  unsigned long* x = data;
  double to[kSamples], kernel[kSamples], from[kSamples];
  long steps = 100;
  for (int s = -3; s < kSamples; ++s) {
    double begin = milliseconds();
#pragma omp target update to(x[0 : size])
    double sent = milliseconds();
#pragma omp target teams distribute parallel for map(alloc : x[0 : size]) firstprivate(steps)
    for (long i = 0; i < size; ++i) x[i] = work(x[i], steps);
    double ran = milliseconds();
#pragma omp target update from(x[0 : size])
    expected[0] = work(expected[0], steps);
    if (s == -2 || s == -1) steps = steps_for(wanted, steps, ran - sent);
    if (s < 0) continue;
    to[s] = sent - begin;
    kernel[s] = ran - sent;
    from[s] = milliseconds() - ran;
  }
  bench_say("to", bench_median(to, kSamples), "ms");
  bench_say("kernel", bench_median(kernel, kSamples), "ms");
  bench_say("from", bench_median(from, kSamples), "ms");
  return steps;
}

static void measure_form(const char* name, void (*run)(long), long steps) {
  double took[kSamples];
  for (int s = -1; s < kSamples; ++s) {
    double begin = milliseconds();
    run(steps);
    if (s >= 0) took[s] = milliseconds() - begin;
    for (int b = 0; b < kBlocks; ++b) expected[b] = work(expected[b], steps);
  }
  check_blocks(name);
  bench_say(name, bench_median(took, kSamples), "ms");
}

static void measure_blocks(int is_pinned, double wanted, long mib) {
  int device = omp_get_default_device();
  size = mib << 17;
  size_t bytes = kBlocks * (size_t)size * sizeof *data;
  data = is_pinned ? llvm_omp_target_alloc_host(bytes, device) : malloc(bytes);
  if (!data) bench_fail("overlap: not enough memory");
#pragma omp parallel for
  for (long i = 0; i < kBlocks * size; ++i) data[i] = (unsigned long)(i / size) + 1;
  for (int b = 0; b < kBlocks; ++b) expected[b] = (unsigned long)b + 1;
#pragma omp target enter data map(to : data[0 : kBlocks * size])
  long steps = measure_one(wanted);
  measure_form("one_by_one", one_by_one, steps);
  measure_form("graph", in_graph, steps);
  measure_form("tasks", in_tasks, steps);
#pragma omp target exit data map(release : data[0 : kBlocks * size])
  measure_form("mapping", mapping, steps);
  if (is_pinned)
    llvm_omp_target_free_host(data, device);
  else
    free(data);
}

int main(int argc, char** argv) {
  double wanted = argc > 2 ? atof(argv[2]) : 0;
  int is_pinned = argc == 4 && !strcmp(argv[1], "pinned"), is_pageable = argc == 4 && !strcmp(argv[1], "pageable");
  int has_kernels = argc == 3 && !strcmp(argv[1], "kernels");
  if (wanted <= 0 || !(is_pinned || is_pageable || has_kernels))
    bench_fail("usage: %s kernels MILLISECONDS, or pinned or pageable MILLISECONDS MIB", argv[0]);
  device_begin();
  if (has_kernels)
    measure_kernels(wanted);
  else
    measure_blocks(is_pinned, wanted, device_number(argv[1], argv[3], 1024));
  return 0;
}
