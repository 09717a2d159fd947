// SPDX-License-Identifier: Apache-2.0
//
// test_nodes_network.py: uses device 0 until something ends the job. The argument says how: `long` waits for one
// region, `copies` moves data to and fro, `regions` runs many short regions.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void say_ready(void) {
  int process = 0;
#pragma omp target map(from : process)
  process = getpid();
  printf("ready %d\n", process);
  fflush(stdout);
}

static void wait_long(void) {
#pragma omp target
  sleep(1000);
}

static void copy(void) {
  size_t bytes = (size_t)32 << 20;
  char *here = calloc(1, bytes), *there = omp_target_alloc(bytes, 0);
  int host = omp_get_initial_device();
  for (;;) {
    omp_target_memcpy(there, here, bytes, 0, 0, 0, host);
    omp_target_memcpy(here, there, bytes, 0, 0, host, 0);
  }
}

static void run_regions(void) {
  for (;;) {
#pragma omp target
    usleep(100);
  }
}

int main(int count, char** arguments) {
  const char* what = count > 1 ? arguments[1] : "";
  say_ready();
  if (strcmp(what, "long") == 0) wait_long();
  if (strcmp(what, "copies") == 0) copy();
  if (strcmp(what, "regions") == 0) run_regions();
  return 0;
}
