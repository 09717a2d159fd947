/* SPDX-License-Identifier: Apache-2.0
 *
 * omp_target_memcpy of 64 MiB beside NVIDIA's own copy of the same bytes (cuMemcpyHtoD, cuMemcpyDtoH), in turns, on a
 * real GPU: from and to memory that is pinned or not, by the initial thread and in a task (`_task`).
 *
 * Figures: `pinned_to`, `pageable_from`, ... in GB/s, and `_driver` that of NVIDIA's copy; `_share`, `_task_share`: the
 * speed over NVIDIA's; all are medians of nine rounds.
 */
#include "device.h"

#include <stdint.h>

enum { kRounds = 9 };
static const size_t kBytes = 64 << 20;
extern void* llvm_omp_target_alloc_host(size_t bytes, int device);
extern void llvm_omp_target_free_host(void* memory, int device);

static struct {
  int (*retain)(void**, int), (*set)(void*);
  int (*to)(uint64_t, const void*, size_t), (*from)(void*, uint64_t, size_t);
  void* context;
} cuda;

static void open_driver(void) {
  void* driver = dlopen("libcuda.so", RTLD_NOW);
  if (!driver) bench_fail("beside: no CUDA driver");
  cuda.retain = (int (*)(void**, int))dlsym(driver, "cuDevicePrimaryCtxRetain");
  cuda.set = (int (*)(void*))dlsym(driver, "cuCtxSetCurrent");
  cuda.to = (int (*)(uint64_t, const void*, size_t))dlsym(driver, "cuMemcpyHtoD_v2");
  cuda.from = (int (*)(void*, uint64_t, size_t))dlsym(driver, "cuMemcpyDtoH_v2");
  if (!cuda.retain || !cuda.set || !cuda.to || !cuda.from) bench_fail("beside: the driver lacks a function");
  if (cuda.retain(&cuda.context, 0)) bench_fail("beside: no context");
}

static double by_driver(int is_to, char* memory, char* there) {
  cuda.set(cuda.context);
  double begin = bench_now();
  int fault = is_to ? cuda.to((uint64_t)there, memory, kBytes) : cuda.from(memory, (uint64_t)there, kBytes);
  if (fault) bench_fail("beside: NVIDIA's copy says %d", fault);
  return bench_now() - begin;
}

static double by_routine(int is_to, char* memory, char* there) {
  int device = omp_get_default_device(), host = omp_get_initial_device();
  double begin = bench_now();
  int fault = is_to ? omp_target_memcpy(there, memory, kBytes, 0, 0, device, host)
                    : omp_target_memcpy(memory, there, kBytes, 0, 0, host, device);
  if (fault) bench_fail("beside: omp_target_memcpy says %d", fault);
  return bench_now() - begin;
}

static double in_task(int is_to, char* memory, char* there) {
  double took = 0;
#pragma omp parallel
#pragma omp single
#pragma omp task shared(took)
  took = by_routine(is_to, memory, there);
  return took;
}

static void measure(const char* kind, int is_to, char* memory, char* there) {
  double driver[kRounds], routine[kRounds], task[kRounds];
  char name[kBenchLine];
  for (int round = -1; round < kRounds; ++round) {
    double spent[3] = {by_driver(is_to, memory, there), by_routine(is_to, memory, there),
                       in_task(is_to, memory, there)};
    if (round < 0) continue;
    driver[round] = spent[0];
    routine[round] = spent[1];
    task[round] = spent[2];
  }
  const char* way = is_to ? "to" : "from";
  double against = bench_median(driver, kRounds), alone = bench_median(routine, kRounds),
         suspended = bench_median(task, kRounds);
  snprintf(name, sizeof name, "%s_%s_driver", kind, way);
  bench_say(name, (double)kBytes / against, "GB/s");
  snprintf(name, sizeof name, "%s_%s", kind, way);
  bench_say(name, (double)kBytes / alone, "GB/s");
  snprintf(name, sizeof name, "%s_%s_task", kind, way);
  bench_say(name, (double)kBytes / suspended, "GB/s");
  snprintf(name, sizeof name, "%s_%s_share", kind, way);
  bench_say(name, against / alone, "x");
  snprintf(name, sizeof name, "%s_%s_task_share", kind, way);
  bench_say(name, against / suspended, "x");
}

int main(void) {
  device_begin();
  open_driver();
  int device = omp_get_default_device();
  char *there = omp_target_alloc(kBytes, device), *pinned = llvm_omp_target_alloc_host(kBytes, device),
       *other = malloc(kBytes);
  if (!there || !pinned || !other) bench_fail("beside: not enough memory");
  memset(pinned, 1, kBytes);
  memset(other, 2, kBytes);
  for (int is_to = 1; is_to >= 0; --is_to) {
    measure("pinned", is_to, pinned, there);
    measure("pageable", is_to, other, there);
  }
  llvm_omp_target_free_host(pinned, device);
  omp_target_free(there, device);
  free(other);
  return 0;
}
