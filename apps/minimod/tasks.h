/* SPDX-License-Identifier: Apache-2.0
 *
 * The time steps on the devices, as one graph of tasks.
 */
#ifndef MINIMOD_TASKS_H
#define MINIMOD_TASKS_H

#include "failure.h"
#include "grid.h"
#include "work.h"

/* All steps, or a half of each. Called by the main thread. Notes a failure if a copy does not succeed. */
void tasks_run(Grid* grid, Work work, Failure* failure);

#endif
