/* SPDX-License-Identifier: Apache-2.0
 *
 * What a task does between reading its inputs and writing its output. The kernels are compiled once, by one compiler,
 * into the library that all drivers link: a difference between two drivers is never a difference of generated code.
 * A worker passes its own scratch memory; nothing is shared.
 */
#ifndef MARLINE_TASKBENCH_KERNEL_H
#define MARLINE_TASKBENCH_KERNEL_H

#include <stddef.h>
#include <stdint.h>

enum KernelKind { kEmpty, kBusyWait, kCompute, kMemory, kLoadImbalance, kSleep, kKernels };

extern const char* const kKernelNames[kKernels];

enum {
  kFlopsPerIteration = 64, /* 32 multiply-adds */
  kBlockBytes = 4096,      /* memory: what one iteration reads and writes back */
  kBytesPerIteration = 2 * kBlockBytes
};

struct Kernel {
  enum KernelKind kind;
  long iterations;
  double imbalance; /* load_imbalance: width of the range of random factors around 1 */
  uint64_t seed;
  size_t scratch_bytes; /* memory: what a worker streams over */
};

struct Scratch {
  double* data;
  size_t block; /* the next block to be streamed */
};

/* Iterations of task (t, i): the same on every run, driver and rank. Zero for the empty kernel. */
long kernel_iterations(const struct Kernel* kernel, long t, long i);

/* The result depends on the work, so that no compiler leaves it out. */
double kernel_run(const struct Kernel* kernel, long t, long i, struct Scratch* scratch);

/* The same without scratch memory, for any kernel but `memory`; also on devices. */
#ifdef _OPENMP
#pragma omp declare target
#endif
double kernel_work(enum KernelKind kind, long iterations);
#ifdef _OPENMP
#pragma omp end declare target
#endif

int64_t monotonic_ns(void);

#endif
