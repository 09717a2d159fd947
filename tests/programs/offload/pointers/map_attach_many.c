/* SPDX-License-Identifier: Apache-2.0
 *
 * Many pointers into one array, which data constructs name with their sections before their structures are mapped; then
 * all pointers lead into another array. The cost of each pointer must not grow with their number: this takes a second
 * of CPU time, and more than a minute if it does.
 *
 * Covers: target enter data(map:to), target exit data(map:from/release), target(map)
 */
#include "../device.h"
#include <sys/resource.h>

enum { kPointers = 100000, kRounds = 5, kSeconds = 25 };

typedef struct {
  int number;
  int* value;
} Element;

static Element elements[kPointers];

/* The oldest ones first. */
static void lead_into(int* array) {
  for (int i = 0; i < kPointers; i++) {
    Element* e = &elements[i];
    e->value = &array[i];
#pragma omp target enter data map(to : e->value[0 : 1])
#pragma omp target exit data map(release : e->value[0 : 1])
  }
}

int main(void) {
  struct rlimit limit = {kSeconds, RLIM_INFINITY};
  CHECK_EQ(setrlimit(RLIMIT_CPU, &limit), 0);
  int *first = malloc(kPointers * sizeof(int)), *second = malloc(kPointers * sizeof(int));
  for (int i = 0; i < kPointers; i++) {
    first[i] = -1;
    second[i] = i;
  }
#pragma omp target enter data map(to : first[0 : kPointers], second[0 : kPointers])
  for (int round = 0; round < kRounds; round++) {
    lead_into(first);
    lead_into(second);
  }
  long wrong = 0;
#if !defined(__clang__) || __clang_major__ >= 22 /* others map the pointers with the sections */
#pragma omp target map(to : elements) map(tofrom : wrong)
  for (int i = 0; i < kPointers; i++) wrong += *elements[i].value != i;
#endif
  CHECK_EQ(wrong, 0);
#pragma omp target exit data map(from : first[0 : kPointers]) map(release : second[0 : kPointers])
  CHECK_PRESENT(first, 0);
  CHECK_PRESENT(second, 0);
  CHECK_EQ(first[1], -1);
  free(first);
  free(second);
  return 0;
}
