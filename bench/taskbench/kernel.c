/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels of the tasks. Both arithmetic loops iterate x = 0.5 x + 0.5 from values near 1, its fixed point: neither
 * infinities nor denormal numbers, whatever the number of iterations. Called by any worker, on its own scratch memory.
 */
#define _GNU_SOURCE
#include "kernel.h"

#include <errno.h>
#include <math.h>
#include <time.h>

#include "graph.h"

const char* const kKernelNames[kKernels] = {"empty", "busy_wait", "compute", "memory", "load_imbalance", "sleep"};

enum { kVectors = 8, kLanes = kFlopsPerIteration / 2 / kVectors };
typedef double Vector __attribute__((vector_size(kLanes * sizeof(double))));

int64_t monotonic_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

long kernel_iterations(const struct Kernel* kernel, long t, long i) {
  if (kernel->kind == kEmpty) return 0;
  if (kernel->kind != kLoadImbalance) return kernel->iterations;
  double factor = 1 + kernel->imbalance * (graph_uniform(kernel->seed, 0x6c6f6164, (uint64_t)t, (uint64_t)i) - 0.5);
  return lround(factor * (double)kernel->iterations);
}

/* Eight independent chains: two multiply-adds per cycle, each 4 cycles long, keep eight in flight. All of them stay in
 * registers. */
__attribute__((always_inline)) static inline double multiply_add(long iterations) {
  Vector x[kVectors];
  const Vector half = (Vector){} + 0.5;
  for (int v = 0; v < kVectors; ++v) x[v] = (Vector){} + (1 + 0x1p-10 * (v + 1));
  for (long k = 0; k < iterations; ++k) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) x[v] = x[v] * half + half;
  }
  for (int v = 1; v < kVectors; ++v) x[0] += x[v];
  double sum = 0;
  for (int lane = 0; lane < kLanes; ++lane) sum += x[0][lane];
  return sum;
}

static double compute_portable(long iterations) { return multiply_add(iterations); }

#ifdef __x86_64__
__attribute__((target("avx2,fma"))) static double compute_fma(long iterations) { return multiply_add(iterations); }

static double compute(long iterations) {
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return compute_fma(iterations);
  return compute_portable(iterations);
}
#else
static double compute(long iterations) { return compute_portable(iterations); }
#endif

static double stream(const struct Kernel* kernel, long iterations, struct Scratch* scratch) {
  size_t blocks = kernel->scratch_bytes / kBlockBytes;
  double* block = scratch->data;
  for (long k = 0; k < iterations; ++k) {
    block = scratch->data + scratch->block * (kBlockBytes / sizeof(double));
    for (size_t n = 0; n < kBlockBytes / sizeof(double); ++n) block[n] = 0.5 * block[n] + 0.5;
    if (++scratch->block == blocks) scratch->block = 0;
  }
  return block[0];
}

static double busy_wait(long nanoseconds) {
  int64_t end = monotonic_ns() + nanoseconds, now;
  do now = monotonic_ns();
  while (now < end);
  return (double)now;
}

static double sleep_for(long nanoseconds) {
  struct timespec left = {nanoseconds / 1000000000, nanoseconds % 1000000000};
  while (nanosleep(&left, &left) && errno == EINTR) {
  }
  return (double)left.tv_nsec;
}

double kernel_work(enum KernelKind kind, long iterations) {
  switch (kind) {
    case kBusyWait: return busy_wait(iterations);
    case kCompute:
    case kLoadImbalance: return compute(iterations);
    case kSleep: return sleep_for(iterations);
    default: return 0;
  }
}

double kernel_run(const struct Kernel* kernel, long t, long i, struct Scratch* scratch) {
  long iterations = kernel_iterations(kernel, t, i);
  return kernel->kind == kMemory ? stream(kernel, iterations, scratch) : kernel_work(kernel->kind, iterations);
}
