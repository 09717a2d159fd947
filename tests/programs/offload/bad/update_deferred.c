/* SPDX-License-Identifier: Apache-2.0
 *
 * Deferred updates of sections that are not contiguous, each waited for: right, but only because of that wait. Ends
 * with status 1, since the warning is what is tested.
 *
 * Covers: target update(to, nowait, depend), target enter data(map:to), target exit data(map:from)
 */
#include "../device.h"

int main(void) {
  static int data[8][64];
#pragma omp target enter data map(to : data)
  for (int b = 0; b < 8; b++) {
    data[b][2] = b + 5;
#pragma omp target update to(data[b : 1][2 : 2]) nowait depend(inout : data[b][0])
#pragma omp taskwait
  }
  memset(data, 0, sizeof data);
#pragma omp target exit data map(from : data)
  for (int b = 0; b < 8; b++) CHECK_EQ(data[b][2], b + 5);
  return 1;
}
