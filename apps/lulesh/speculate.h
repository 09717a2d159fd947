/* SPDX-License-Identifier: Apache-2.0
 *
 * The form `speculative`: the creating thread does not wait to know whether a cycle takes place. The next cycle exists,
 * and its forces are computed, summed and sent, before the step and the end are known. When the task of the step finds
 * the end, marline_mpi_speculation_stop cancels all tasks that were created after it, on all processes, including
 * messages in flight.
 *
 * The state is always consistent: before its step is known, a cycle computes forces and accelerations only. The state
 * is changed by tasks that wait for the step, and these are cancelled.
 */
#ifndef LULESH_SPECULATE_H
#define LULESH_SPECULATE_H

#include "tasks.h"

/* Advances until the end, and counts in run->speculation. Collective; main thread, outside of parallel regions. */
void speculative_run(TaskRun* run);

/* Notes a failure if a sent message was neither received nor drained, or if a message is left. */
void speculative_judge(const TaskRun* run, Failure* failure);

#endif
