/* SPDX-License-Identifier: Apache-2.0
 *
 * See delay.h.
 */
#include "delay.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "links.h"
#include "next.h"

static int64_t delay_ns; /* written by delay_start() */
static _Atomic int64_t
    delay_in_force; /* that or 0; written by the thread that calls MPI_Pcontrol, read by all: relaxed */

void delay_start(void) {
  const char* text = getenv("MPI_DELAY_US");
  if (text == NULL || *text == '\0') return;
  char* end = NULL;
  const double us = strtod(text, &end);
  if (*end != '\0' || !(us >= 0 && us <= 1e9)) {
    fprintf(stderr, "mpi-delay: MPI_DELAY_US takes microseconds from 0 to 1e9, not '%s'\n", text);
    next.Abort(MPI_COMM_WORLD, 2);
  }
  delay_ns = (int64_t)(us * 1000);
  delay_switch(true);
}

bool delay_is_on(void) { return delay_ns > 0 || links_are_there(); }

void delay_switch(bool on) {
  atomic_store_explicit(&delay_in_force, on ? delay_ns : 0, memory_order_relaxed);
  links_switch(on);
}

int64_t delay_length(void) { return atomic_load_explicit(&delay_in_force, memory_order_relaxed); }

void delay_progress(void) {
  int flag = 0;
  next.Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

void delay_pause(void) {
  delay_progress();
  sched_yield();
}
