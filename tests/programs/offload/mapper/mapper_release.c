/* SPDX-License-Identifier: Apache-2.0
 *
 * What a mapper maps is given up at the end of the construct, so that another mapper may map the object in another way.
 * LLVM 14 to 22 keep the object itself.
 *
 * Covers: declare mapper, target(map:mapper), omp_target_is_present
 */
#include "../device.h"

typedef struct {
  int n, more;
  int* data;
  int last;
} Object;

#pragma omp declare mapper(Object o) map(o.n, o.data[0 : o.n])
#pragma omp declare mapper(all : Object o) map(o.n, o.last, o.data[0 : o.n])
#pragma omp declare mapper(one : Object o) map(o.n)

int main(void) {
  int data[4] = {1, 2, 3, 4}, few[3][4] = {{0}};
  Object o = {4, 0, data, 9}, many[3];
#pragma omp target map(tofrom : o)
  o.data[0] += o.n;
  CHECK_PRESENT(&o, 0);
  CHECK_PRESENT(data, 0);
#pragma omp target map(mapper(one), tofrom : o)
  o.n += 1;
  CHECK_PRESENT(&o, 0);
  o.n = 4;
#pragma omp target map(mapper(all), tofrom : o)
  o.last += o.data[0];
  CHECK_PRESENT(&o, 0);
  CHECK_EQ(data[0], 5);
  CHECK_EQ(o.last, 14);
  for (int i = 0; i < 3; i++) many[i] = (Object){4, 0, few[i], 0};
  for (int round = 0; round < 3; round++) {
#pragma omp target enter data map(to : many)
    CHECK_PRESENT(&many[2], 1);
    CHECK_PRESENT(few, 1);
#pragma omp target map(tofrom : many)
    for (int i = 0; i < 3; i++) many[i].data[i] += i;
#pragma omp target exit data map(from : many)
    CHECK_PRESENT(&many[0], 0);
    CHECK_PRESENT(&many[2], 0);
    CHECK_PRESENT(few, 0);
  }
  CHECK_EQ(few[2][2], 6);
  return 0;
}
