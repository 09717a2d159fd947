/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds deferred target regions that write to a frame which their creator has left. The memory between the creator's
 * stack pointer at the construct and its stack pointer at a later call of the runtime belonged to frames that have
 * ended meanwhile: a region that maps a part of this memory `from`, and is not complete at that time, has a frame that
 * is gone. Nothing else is taken for such memory: the stack pointers are those of the program's own functions. Any
 * thread.
 */
#ifndef MARLINE_CHECK_FRAMES_H
#define MARLINE_CHECK_FRAMES_H

#include "../common/ompt.h"

/* Called when the tool starts. */
void frames_begin(ompt_function_lookup_t lookup);

/* Called when the current task calls the runtime. */
void frames_look(const ompt_data_t* task);

/* Called when the current task, `creator`, creates a task (tasks.h). */
void frames_create(const ompt_data_t* creator, const ompt_data_t* task, int flags);

/* Called when the task's code has ended. */
void frames_end(const ompt_data_t* task);

#endif
