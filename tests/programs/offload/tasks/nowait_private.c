/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays and structures that are firstprivate in a deferred region have the value of the moment at which the construct
 * was met. Clang passes the address of the variable itself to the deferred call: only a runtime that copies when
 * the task is made gets this right.
 *
 * Covers: target(nowait, firstprivate)
 */
#include "../device.h"

typedef struct {
  double d;
  char text[20];
} Record;

enum { kTasks = 12 };

int main(void) {
  double out[kTasks];
#pragma omp parallel
#pragma omp single
  {
    int array[5];
    Record record;
    for (int t = 0; t < kTasks; t++) {
      for (int i = 0; i < 5; i++) array[i] = 10 * t;
      record.d = t * 0.5;
      memset(record.text, t, sizeof record.text);
#pragma omp target nowait firstprivate(array, record) map(from : out[t : 1])
      {
        out[t] = t + array[4] + record.d + record.text[19];
        array[4] = 1000;
      }
      memset(array, -1, sizeof array);
      memset(&record, -1, sizeof record);
    }
#pragma omp taskwait
    CHECK_EQ(array[4], -1);
  }
  for (int t = 0; t < kTasks; t++) CHECK_NEAR(out[t], 12.5 * t, 0);
  return 0;
}
