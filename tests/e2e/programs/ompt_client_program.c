/* SPDX-License-Identifier: Apache-2.0
 *
 * What ompt_client.c watches: a region of two threads, 20 tasks, and three calls of omp_control_tool. Prints their
 * results first.
 */
#include <omp.h>
#include <stdio.h>

int main(void) {
  int results[3], count = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int i = 0; i < 20; ++i) {
#pragma omp task untied shared(count)
    {
#pragma omp atomic
      ++count;
#pragma omp taskyield
    }
  }
  results[0] = omp_control_tool(omp_control_tool_start, 0, NULL);
  results[1] = omp_control_tool(omp_control_tool_pause, 0, NULL);
  results[2] = omp_control_tool(12345, 1, &count);
  printf("control %d %d %d count %d\n", results[0], results[1], results[2], count);
  return 0;
}
