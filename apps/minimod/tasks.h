/* SPDX-License-Identifier: Apache-2.0
 *
 * The time steps on the devices, as one graph of tasks.
 */
#ifndef MINIMOD_TASKS_H
#define MINIMOD_TASKS_H

#include "failure.h"
#include "grid.h"

/* All steps. Called by the main thread. Notes a failure if a copy does not succeed. */
void tasks_run(Grid *grid, Failure *failure);

#endif
