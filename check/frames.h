/* SPDX-License-Identifier: Apache-2.0
 *
 * Deferred target regions that write to a frame which their creator has left. The memory between the creator's stack
 * pointer at the construct and its stack pointer at a later call of the runtime belonged to frames that have ended
 * meanwhile: a region that maps a part of it `from`, and is not complete then, has a frame that is gone. Nothing else
 * is taken for it: the stack pointers are those of the program's own functions. Any thread.
 */
#ifndef MARLINE_CHECK_FRAMES_H
#define MARLINE_CHECK_FRAMES_H

#include <omp-tools.h>

/* When the tool starts. */
void frames_begin(ompt_function_lookup_t lookup);

/* The current task calls the runtime. */
void frames_look(const ompt_data_t* task);

/* The current task, `creator`, creates a task (tasks.h). */
void frames_create(const ompt_data_t* creator, const ompt_data_t* task, int flags);

/* The task's code has ended. */
void frames_end(const ompt_data_t* task);

#endif
