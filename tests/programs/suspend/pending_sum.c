/* SPDX-License-Identifier: Apache-2.0
 *
 * More operations are pending than an int can count, in one hook and over all of them: the hooks are polled all the
 * same.
 *
 * Covers: marline events
 */
#include "../check.h"
#include <limits.h>
#include <marline/marline.h>
#include <omp.h>

static marline_event_t event;
static marline_hook_t *waiting, *fulfilling;
static int fulfilled;

static int poll_in_vain(void* unused) {
  (void)unused;
  return 0;
}

static int poll_event(void* unused) {
  (void)unused;
  if (fulfilled) return 0;
  fulfilled = 1;
  marline_event_fulfill(&event);
  return 1;
}

int main(void) {
  waiting = marline_progress_register("waiting", poll_in_vain, NULL);
  fulfilling = marline_progress_register("fulfilling", poll_event, NULL);
  CHECK(waiting != NULL && fulfilling != NULL);
  marline_event_init(&event);
#pragma omp parallel
#pragma omp single
#pragma omp task
  {
    marline_progress_add(waiting, INT_MAX);
    marline_progress_add(fulfilling, INT_MAX);
    marline_progress_add(fulfilling, INT_MAX);
    marline_event_wait(&event);
  }
  CHECK_EQ(fulfilled, 1);
  marline_progress_unregister(fulfilling);
  marline_progress_unregister(waiting);
  return 0;
}
