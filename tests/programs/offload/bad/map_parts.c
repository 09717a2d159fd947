/* SPDX-License-Identifier: Apache-2.0
 *
 * A region names a variable without a map clause, of which parts are mapped. What the region uses is not known: it may
 * be right, so a warning says what is there. Ends with status 1, since the warning is what is tested.
 *
 * Covers: target(map), target enter data(map:to)
 */
#include "bad.h"

static int array[N];

static struct {
  int a, b, c, d;
} whole = {1, 2, 3, 4};

static void structure(void) {
#pragma omp target enter data map(to : whole.b, whole.c)
#pragma omp target
  whole.b = whole.c;
}

/* In this order, so that the parts do not come to lie on the device as in the array. */
static void apart(void) {
#pragma omp target enter data map(to : array[40 : 10])
#pragma omp target enter data map(to : array[10 : 10])
#pragma omp target
  array[15] = 1;
}

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "apart") == 0)
    apart();
  else
    structure();
  return 1;
}
