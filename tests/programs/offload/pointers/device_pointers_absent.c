/* SPDX-License-Identifier: Apache-2.0
 *
 * A pointer in use_device_ptr that points to nothing mapped keeps its value (OpenMP 5.1 and later). LLVM 19 gives null.
 *
 * Covers: target data(use_device_ptr)
 */
#include "../device.h"

int main(void) {
  int data[10] = {0}, *p = data, other = 0, *q = &other, *null = NULL;
#pragma omp target data map(tofrom : other) use_device_ptr(p, q, null)
  {
    CHECK(p == data);
    CHECK_COPY(q != &other, 1, 0);
    CHECK(null == NULL);
  }
#pragma omp target enter data map(to : data[4 : 2])
#pragma omp target data map(to : other) use_device_ptr(p)
  CHECK(p == data); /* only elements 4 and 5 are mapped */
#pragma omp target exit data map(delete : data[4 : 2])
  return 0;
}
