/* SPDX-License-Identifier: Apache-2.0
 *
 * `always` copies an object with attached pointers: the pointers on both sides stay as they are, the rest is copied.
 * LLVM 19 overwrites the device's pointers with the host's.
 *
 * Covers: target(map:always), target enter data(map:always), target exit data(map:always)
 */
#include "../device.h"

#define N 16

typedef struct {
  int *data, n, *more;
} Object;

int main(void) {
  int data[N] = {0}, more[N] = {0};
  Object v = {data, N, more};
#pragma omp target enter data map(to : v) map(to : v.data[0 : N], v.more[0 : N])
  v.n = 5;
#pragma omp target map(always, tofrom : v)
  {
    v.data[1] = v.n;
    v.more[1] = v.n++;
  }
  CHECK_EQ(v.n, 6);
  CHECK(v.data == data && v.more == more);
  CHECK_COPY(data[1], 0, 5);
  v.n = 7;
#pragma omp target enter data map(always, to : v)
#pragma omp target
  {
    v.data[2] = v.n;
    v.more[2] = v.n++;
  }
  CHECK_COPY(data[2], 0, 7);
#pragma omp target exit data map(always, from : v)
  CHECK_EQ(v.n, 8);
  CHECK(v.data == data && v.more == more);
#pragma omp target exit data map(from : v.data[0 : N], v.more[0 : N])
#pragma omp target exit data map(from : v)
  CHECK(v.data == data && v.more == more);
  CHECK_EQ(data[1], 5);
  CHECK_EQ(more[1], 5);
  CHECK_EQ(data[2], 7);
  CHECK_EQ(more[2], 7);
  return 0;
}
