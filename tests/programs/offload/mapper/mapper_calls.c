/* SPDX-License-Identifier: Apache-2.0
 *
 * A mapper is code of the program: its list items may call routines, also routines that ask about mapped data.
 *
 * Covers: declare mapper, target(map), target data(map), target update(to), omp_target_is_present
 */
#include "../device.h"

typedef struct {
  int length;
  int* data;
} Vector;

static int calls;

static int length_of(const Vector* v) {
  calls++;
  return omp_target_is_present(v->data, omp_get_default_device()) >= 0 ? v->length : 0;
}

#pragma omp declare mapper(Vector v) map(v, v.data[0 : length_of(&v)])

int main(void) {
  int data[4] = {1, 2, 3, 4};
  Vector v = {4, data};
#pragma omp target map(tofrom : v)
  v.data[1] = 20;
  CHECK_EQ(data[1], 20);
#pragma omp target data map(tofrom : v)
  {
    data[2] = 30;
#pragma omp target update to(v)
#pragma omp target map(tofrom : v)
    v.data[3] = v.data[2] + 1;
  }
  CHECK_EQ(data[3], 31);
  CHECK(calls > 0);
  CHECK_PRESENT(data, 0);
  CHECK_PRESENT(&v, 0);
  return 0;
}
