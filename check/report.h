/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes the findings, which python/marline/check/command.py reads. Any thread.
 */
#ifndef MARLINE_CHECK_REPORT_H
#define MARLINE_CHECK_REPORT_H

#include "held.h"
#include "left_frame.h"

#include <stdbool.h>

/* Begins this process's file in the folder MARLINE_CHECK_DIR; without that, or if it cannot be written, false: there is
 * nothing to check for. Once, before the others. */
bool report_open(void);

/* The current task is about to leave its thread, and it or one that waits for it on its stack holds this lock. Written
 * at once, as the program may never come to its end; later ones from the same place are counted only. */
void report_held(const Held* held);

/* A deferred target region that is not complete maps a frame that its creator has left. Written likewise. */
void report_left(const LeftFrame* left);

#endif
