/* SPDX-License-Identifier: Apache-2.0
 *
 * The current task of a thread, as a number that OMPT keeps for the checker (tool.c). Any thread.
 */
#ifndef MARLINE_CHECK_TASKS_H
#define MARLINE_CHECK_TASKS_H

#include "../common/ompt.h"
#include <stdbool.h>
#include <stdint.h>

/* What the tasks of one construct have in common. */
typedef struct Construct {
  const void* code;  /* a return address in the construct's code; null if the runtime does not know it */
  const char* label; /* of marline_task_label, or null */
  bool implicit;     /* true: the implicit tasks of a parallel region */
} Construct;

/* The number of the current task, or else of the thread. No other task or thread has it in the life of the process. */
uint64_t current_holder(void);

/* Whether the holder is a task: implicit tasks of parallel regions are, initial tasks are not. */
bool is_task(uint64_t holder);

const Construct* construct_of(uint64_t task);

/* Called when the current task has created a task, and when it opens a parallel region. */
typedef void (*TaskMade)(const ompt_data_t* creator, const ompt_data_t* task, int flags);
typedef void (*RegionBegun)(const ompt_data_t* opener);

/* Called when the tool starts: makes OMPT report new tasks. Before that, each task counts as its thread. */
void tasks_begin(ompt_function_lookup_t lookup, TaskMade made, RegionBegun region);

#endif
