/* SPDX-License-Identifier: Apache-2.0
 *
 * Maps that cannot be: a range that goes beyond what is mapped, on either side or both, and what must be present and is
 * not. The error names the variable, both ranges, and the place.
 *
 * Covers: target(map:present), target enter data(map:to/present), target exit data(map:present),
 *  target data(map:present), target update(to:present, from:present)
 */
#include "bad.h"

static int array[N];

typedef struct {
  int a, b, c;
} Object;

static void extend_up(void) {
#pragma omp target enter data map(to : array[0 : 10])
#pragma omp target enter data map(to : array[0 : 20])
}

static void extend_down(void) {
#pragma omp target enter data map(to : array[10 : 10])
#pragma omp target map(tofrom : array[5 : 10])
  array[7]++;
}

static void extend_both(void) {
#pragma omp target enter data map(to : array[10 : 10])
#pragma omp target data map(tofrom : array)
  array[0] = 1;
}

static void extend_object(void) {
  Object o = {1, 2, 3};
#pragma omp target enter data map(to : o.b)
#pragma omp target map(tofrom : o)
  o.a = o.b;
}

static void bridge(void) {
#pragma omp target enter data map(to : array[0 : 10])
#pragma omp target enter data map(to : array[20 : 10])
#pragma omp target map(tofrom : array[5 : 20])
  array[6]++;
}

static void present(void) {
  int absent = 0;
#pragma omp target map(present, tofrom : absent)
  absent++;
}

static void present_part(void) {
#pragma omp target enter data map(to : array[0 : 10])
#pragma omp target map(present, tofrom : array[5 : 20])
  array[6]++;
}

static void present_enter(void) {
  int absent = 0;
#pragma omp target enter data map(present, to : absent)
}

static void present_exit(void) {
  int absent = 0;
#pragma omp target exit data map(present, from : absent)
}

static void present_data(void) {
  int absent = 0;
#pragma omp target data map(present, tofrom : absent)
  absent++;
}

static void present_update_to(void) {
  int absent = 0;
#pragma omp target update to(present : absent)
}

static void present_update_from(void) {
  int absent = 0;
#pragma omp target update from(present : absent)
}

static void present_deferred(void) {
  int absent = 0;
#pragma omp target enter data map(present, to : absent) nowait
#pragma omp taskwait
}

int main(int argc, char** argv) {
  static const Mistake mistakes[] = {{"extend_up", extend_up},
                                     {"extend_down", extend_down},
                                     {"extend_both", extend_both},
                                     {"extend_object", extend_object},
                                     {"bridge", bridge},
                                     {"present", present},
                                     {"present_part", present_part},
                                     {"present_enter", present_enter},
                                     {"present_exit", present_exit},
                                     {"present_data", present_data},
                                     {"present_update_to", present_update_to},
                                     {"present_update_from", present_update_from},
                                     {"present_deferred", present_deferred}};
  return MAKE_MISTAKE(argc, argv, mistakes);
}
