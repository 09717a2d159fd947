/* SPDX-License-Identifier: Apache-2.0
 *
 * Example: names and colours for tasks, as traces, `marline ps` and error messages show them. Each call is about the
 * next task that the current task creates, and about that one only.
 *
 * Covers: marline labels
 */
#include "../check.h"
#include <marline/marline.h>

static int produced, consumed;

int main(void) {
  printf("Marline %s\n", marline_version());
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 10; i++) {
    marline_task_label("produce");
    marline_task_color(0x2a9d8f);
#pragma omp task depend(out : produced)
    produced++;
    marline_task_label("consume");
    marline_task_color(0xe76f51);
#pragma omp task depend(in : produced) depend(inout : consumed)
    consumed += produced;
  }
  CHECK_EQ(produced, 10);
  CHECK_EQ(consumed, 55);
  return 0;
}
