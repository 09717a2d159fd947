// SPDX-License-Identifier: Apache-2.0
//
// test_nodes_parts.py: what the devices of workers are, one line each; or, by the argument, what one of them does to
// others.
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kBytes = 1 << 20 };

#ifdef COUNTS
#pragma omp declare target
#endif
int counter = 5;
#ifdef COUNTS
#pragma omp end declare target
#endif

#pragma omp declare target
static cpu_set_t cpus_here(void) {
  cpu_set_t here;
  sched_getaffinity(0, sizeof here, &here);
  return here;
}

static int first_of(cpu_set_t set) {
  int first = 0;
  while (!CPU_ISSET(first, &set)) ++first;
  return first;
}

static int count_of(cpu_set_t set) { return CPU_COUNT(&set); }

static int are_equal(cpu_set_t a, cpu_set_t b) { return CPU_EQUAL(&a, &b) ? 1 : 0; }
#pragma omp end declare target

// process, the device's own number, threads of a region, of these on the same CPUs as its first, omp_get_num_procs,
// CPUs
static void describe(int device) {
  int process = 0, number = -1, threads = 0, alike = 0, processors = 0, cpus = 0, first = 0;
#pragma omp target device(device) map(from : process, number, threads, alike, processors, cpus, first)
  {
    cpu_set_t own = cpus_here();
    process = getpid();
    number = omp_get_device_num();
    processors = omp_get_num_procs();
    cpus = count_of(own);
    first = first_of(own);
    int same = 0;
#pragma omp parallel reduction(+ : same)
    {
      same += are_equal(own, cpus_here());
#pragma omp master
      threads = omp_get_num_threads();
    }
    alike = same;
  }
  printf("%d %d %d %d %d %d %d\n", process == getpid() ? 0 : process, number, threads, alike, processors, cpus, first);
}

// Each device has a block of its own; they go round, from device to device.
static int pass_round(int devices) {
  int host = omp_get_initial_device(), errors = 0;
  char **blocks = malloc(sizeof *blocks * (size_t)devices), *here = malloc(kBytes);
  for (int d = 0; d < devices; ++d) {
    blocks[d] = omp_target_alloc(kBytes, d);
    memset(here, 'a' + d, kBytes);
    errors += omp_target_memcpy(blocks[d], here, kBytes, 0, 0, d, host) != 0;
  }
  for (int d = 1; d < devices; ++d)
    errors += omp_target_memcpy(blocks[d], blocks[d - 1], kBytes / 2, kBytes / 2, 0, d, d - 1) != 0;
  for (int d = 0; d < devices; ++d) {
    errors += omp_target_memcpy(here, blocks[d], kBytes, 0, 0, host, d) != 0;
    for (int i = 0; i < kBytes; ++i) errors += here[i] != 'a' + d - (d > 0 && i >= kBytes / 2);
    omp_target_free(blocks[d], d);
  }
  free(blocks);
  free(here);
  return errors;
}

// The first device is busy until the second one has run a region.
static void one_beside_another(void) {
  int host = omp_get_initial_device(), done = 0;
  volatile int* flag = omp_target_alloc(sizeof *flag, 0);
  omp_target_memcpy((void*)flag, &done, sizeof done, 0, 0, 0, host);
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp target nowait device(0) is_device_ptr(flag)
    while (*flag == 0) sched_yield();
#pragma omp target device(1) map(from : done)
    done = 7;
    omp_target_memcpy((void*)flag, &done, sizeof done, 0, 0, 0, host);
#pragma omp taskwait
  }
  omp_target_free((void*)flag, 0);
  printf("done %d\n", done);
}

static void count(int devices) {
  for (int d = 0; d < devices; ++d) {
    int seen = 0;
#pragma omp target device(d) map(from : seen)
    seen = ++counter;
    printf("counter %d\n", seen);
  }
}

int main(int argc, char** argv) {
  int devices = omp_get_num_devices();
  const char* what = argc > 1 ? argv[1] : "describe";
  if (strcmp(what, "describe") == 0) {
    for (int d = 0; d < devices; ++d) describe(d);
    printf("errors %d\n", pass_round(devices));
  } else if (strcmp(what, "beside") == 0) {
    one_beside_another();
  } else if (strcmp(what, "count") == 0) {
    count(devices);
  } else {
#pragma omp target device(1)
    *(volatile int*)8 = 1;
  }
  return 0;
}
