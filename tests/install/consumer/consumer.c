/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls marline.h from a plain C program: prints the version, and waits for an event that has been fulfilled.
 */
#include <marline/marline.h>
#include <stdio.h>

int main(void) {
  marline_event_t event = MARLINE_EVENT_INIT;
  marline_event_init(&event);
  marline_event_fulfill(&event);
  marline_event_wait(&event);
  printf("%s %d\n", marline_version(), marline_event_test(&event));
  return 0;
}
