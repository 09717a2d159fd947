/* SPDX-License-Identifier: Apache-2.0
 *
 * What the OMPT test's tool watches: dependent tasks, a taskwait, a taskgroup, a detached task that is fulfilled late,
 * an undeferred and a final task, an explicit barrier, a call to the tool. */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>

int omp_control_tool(int command, int modifier, void* argument) __attribute__((weak)); /* not in libgomp */
void marline_task_label(const char* label) __attribute__((weak));
void marline_task_color(uint32_t rgb) __attribute__((weak));

static void tasks(void) {
  int x = 0, body_ended = 0;
  omp_event_handle_t handle;
  if (marline_task_label != NULL) {
    marline_task_label("first");
    marline_task_color(0xff8800);
  }
#pragma omp task depend(out : x) shared(x)
  x = 1;
#pragma omp task depend(in : x) shared(x) untied
  printf("answer value=%d x=%d\n", omp_control_tool(2, 9, NULL), x);
#pragma omp taskwait
#pragma omp task detach(handle) shared(body_ended) depend(out : body_ended)
  __atomic_store_n(&body_ended, 1, __ATOMIC_RELEASE);
  while (__atomic_load_n(&body_ended, __ATOMIC_ACQUIRE) == 0) {
#pragma omp taskyield
  }
  for (double end = omp_get_wtime() + 0.02; omp_get_wtime() < end;) {
  }
  omp_fulfill_event(handle);
#pragma omp taskgroup
  {
#pragma omp task if (0) shared(x)
    x++;
#pragma omp task final(1) shared(x)
    x++;
  }
}

int main(void) {
#pragma omp parallel num_threads(2)
  {
#pragma omp single nowait
    tasks();
#pragma omp barrier
  }
  puts("done");
  return 0;
}
