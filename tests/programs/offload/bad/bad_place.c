/* SPDX-License-Identifier: Apache-2.0
 *
 * What is wrong with a data construct is said with its place: file and line, or the file of the program and an offset,
 * which addr2line takes, where the compiler tells no more. Each case is a run of its own.
 *
 * Covers: target enter data(map:to/alloc), target data(map:to)
 */
#include "../../child.h"
#include <omp.h>
#include <stdint.h>

static int array[100];

static void overlap(void) {
#pragma omp target enter data map(to : array[0 : 10])
#pragma omp target enter data map(to : array[5 : 10])
}

static void overlap_in_data(void) {
#pragma omp target enter data map(to : array[0 : 10])
#pragma omp target data map(to : array[5 : 10])
  array[0] = 1;
}

static void no_memory(void) {
  char* p = (char*)array;
  size_t bytes = (size_t)1 << 46;
  (void)p;
#pragma omp target enter data map(alloc : p[0 : bytes])
}

static const struct {
  const char* name;
  void (*run)(void);
  const char* says;
} cases[] = {{"overlap", overlap, "overlap"},
             {"overlap_in_data", overlap_in_data, "overlap"},
             {"no_memory", no_memory, "no memory for a map of 70368744177664 bytes"}};

int main(int argc, char** argv) {
  static Child child;
  char* variables[] = {NULL};
  for (int i = 0; i < 3; i++) {
    if (argc > 1 && strcmp(argv[1], cases[i].name) == 0) cases[i].run();
    if (argc > 1 || omp_get_num_devices() == 0) continue;
    run_child(&child, cases[i].name, variables);
    CHECK(!child.exited || child.status != 0);
    const char* place = strstr(child.output, "bad_place.c:") != NULL ? "bad_place.c:" : "a data construct at child+0x";
    CHECK_LINE(&child, "marline: fatal: device 0", "a data construct at ", place, cases[i].says);
  }
  return 0;
}
