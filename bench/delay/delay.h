/* SPDX-License-Identifier: Apache-2.0
 *
 * The delay, its clock, and what a thread does meanwhile. Any thread.
 */
#ifndef MARLINE_DELAY_DELAY_H
#define MARLINE_DELAY_DELAY_H

#include <stdbool.h>
#include <stdint.h>

#include "now.h"

/* Reads MPI_DELAY_US. Once, after MPI_Init and links_start(). */
void delay_start(void);

/* False without a delay and without links: every call goes straight through. Constant after delay_start(). */
bool delay_is_on(void);

/* MPI_Pcontrol: with `on` false messages are due at once, while all else stays as it is, its cost included. To be
 * called while no message is under way. */
void delay_switch(bool on);

/* How long it is now, in nanoseconds: 0 while it is switched off, and with links. */
int64_t delay_length(void);

/* Lets MPI move on: what is held back does not call it. */
void delay_progress(void);

/* Between two questions of a waiting thread: lets MPI move on, and another thread run. */
void delay_pause(void);

#endif
