/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes the findings, which python/marline/check/command.py reads. Any thread.
 */
#ifndef MARLINE_CHECK_REPORT_H
#define MARLINE_CHECK_REPORT_H

#include "held.h"
#include "left_frame.h"

#include <stdbool.h>

/* Begins this process's file in the folder MARLINE_CHECK_DIR. Returns false if that is not set, or the file cannot
 * be written: there is nothing to check for. Called once, before the other functions. */
bool report_open(void);

/* Reports that the current task is about to leave its thread while this lock is held, by the task or by one that
 * waits for it on its stack. Written at once, because the program may never come to its end; later findings from the
 * same place are only counted. */
void report_held(const Held* held);

/* Reports that a deferred target region which is not complete maps a frame that its creator has left. Written in the
 * same way. */
void report_left(const LeftFrame* left);

#endif
