/* SPDX-License-Identifier: Apache-2.0
 *
 * The task that a thread runs, as the recorder knows it, and the ends of its segments (tool.c).
 */
#ifndef MARLINE_CHECK_ACCESSES_CURRENT_H
#define MARLINE_CHECK_ACCESSES_CURRENT_H

#include "../../common/ompt.h"
#include "granules.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct TaskRecord {
  uint64_t number;
  Granules granules;
  uint64_t stack_low, stack_high; /* of its frames; 0: not known yet */
  bool is_begun;
  bool is_of_league; /* the initial task of a team of a teams construct */
  int regions;       /* target regions on the host that it runs, one in the other */
} TaskRecord;

/* The task that this thread was last seen to run; null: ask current_find. Cleared by each event that may change it. */
extern _Thread_local TaskRecord* current_task __attribute__((tls_model("initial-exec")));

/* Null where there is none: before OpenMP has started, within the recorder, on threads that are not OpenMP's. */
TaskRecord* current_find(void);

static inline TaskRecord* current(void) {
  TaskRecord* task = current_task;
  return __builtin_expect(task != NULL, 1) ? task : current_find();
}

/* The record of the task that OMPT's word belongs to; null for a null word. A task that ran before the tool began is an
 * initial one. */
TaskRecord* current_record(ompt_data_t* data);

/* The number of the current task, or 0. */
uint64_t current_number(void);

/* Writes down what the current task has accessed up to here. */
void current_end_segment(void);

/* The current task has taken the mutex of that number, or is about to release it. */
void current_acquired(uint64_t mutex);
void current_released(uint64_t mutex);

/* A number for a task. */
uint64_t current_new_number(void);

bool current_is_recording(void);

/* Whether the recorder sees what the code around `caller`, a return address, does: the program's code, while there is a
 * record, and not called by the recorder. */
bool current_is_programs(const void* caller);

#endif
