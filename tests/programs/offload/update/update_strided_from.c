/* SPDX-License-Identifier: Apache-2.0
 *
 * Updates of sections with a stride that begin later than the array. Clang 22 passes the lower bound in elements,
 * beside a stride in bytes; LLVM's own library multiplies them. The size of an element is that of the last dimension.
 *
 * Covers: target update(to, from)
 */
#include "../device.h"

enum { kN = 60 };

static int array[kN];
static double reals[kN];

int main(void) {
  int wrong = 0;
  if (!own_copies()) return 0;
#pragma omp target enter data map(alloc : array, reals)
#pragma omp target map(alloc : array, reals)
  for (int i = 0; i < kN; i++) reals[i] = array[i] = 1000 + i;
  for (int i = 0; i < kN; i++) reals[i] = array[i] = i;
#pragma omp target update from(array[3 : 10 : 4])
  for (int i = 0; i < kN; i++) CHECK_EQ(array[i], i >= 3 && i < 43 && (i - 3) % 4 == 0 ? 1000 + i : i);
#pragma omp target update to(reals[1 : 7 : 3])
#pragma omp target map(tofrom : reals, wrong)
  for (int i = 0; i < kN; i++) wrong += reals[i] != (i >= 1 && i < 22 && (i - 1) % 3 == 0 ? i : 1000 + i);
  CHECK_EQ(wrong, 0);
#pragma omp target exit data map(delete : array, reals)
  return 0;
}
