/* SPDX-License-Identifier: Apache-2.0
 *
 * The form `speculative`: the creating thread does not wait to know whether a cycle takes place. The next one exists,
 * and its forces are computed, summed and sent, before the step and the end are known. When the task of the step finds
 * the end, marline_mpi_speculation_stop cancels what was created behind it on all processes, running messages included.
 *
 * The state is never torn: what a cycle computes before its step is known are forces and accelerations only; the state
 * is changed by tasks that wait for the step, and these are cancelled.
 */
#ifndef LULESH_SPECULATE_H
#define LULESH_SPECULATE_H

#include "tasks.h"

/* Advances until the end, and counts in run->speculation. Collective; main thread, outside of parallel regions. */
void speculative_run(TaskRun* run);

/* Notes a failure if what was sent was not all received or drained, or something is left. */
void speculative_judge(const TaskRun* run, Failure* failure);

#endif
