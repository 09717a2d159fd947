/* SPDX-License-Identifier: Apache-2.0
 *
 * OpenMP 5.2's names for what is on the device: the enter clause, begin declare target with device_type, and variables
 * that only one side has.
 *
 * Covers: declare target(enter, link, device_type), begin declare target(device_type), target update(to, from)
 */
/* version: 52 */
#include "../device.h"

int plain, list[10] = {1, 2, 3};
int linked = 5;
#pragma omp declare target enter(plain, list)
#pragma omp declare target link(linked)

#pragma omp begin declare target
int counted = 3;
static int add_counted(int x) { return counted + x; }
#pragma omp end declare target

#pragma omp begin declare target device_type(any)
int on_both(int x);
int on_both(int x) { return x * 3; }
#pragma omp end declare target

int only_here(int x);
#pragma omp declare target enter(only_here) device_type(host)
int only_here(int x) { return x + 100; }

int main(void) {
  int seen[4] = {0};
  plain = 7;
#pragma omp target update to(plain)
#pragma omp target map(tofrom : seen)
  {
    seen[0] = plain + list[2];
    seen[1] = add_counted(4);
    seen[2] = on_both(5);
    list[3] = 44;
    counted = 20;
  }
  CHECK_EQ(seen[0], 10);
  CHECK_EQ(seen[1], 7);
  CHECK_EQ(seen[2], 15);
  CHECK_EQ(only_here(1), 101);
#pragma omp target update from(list, counted)
  CHECK_EQ(list[3], 44);
  CHECK_EQ(counted, 20);
#pragma omp target map(tofrom : linked) map(tofrom : seen)
  seen[3] = linked++;
  CHECK_EQ(seen[3], 5);
  CHECK_EQ(linked, 6);
  return 0;
}
