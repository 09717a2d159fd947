/* SPDX-License-Identifier: Apache-2.0
 *
 * Which devices there are, and what lies on them: one slab each. Called by the main thread.
 */
#ifndef MINIMOD_DEVICES_H
#define MINIMOD_DEVICES_H

#include "failure.h"
#include "grid.h"

/* How many devices the run has. Notes a failure if there are none, or fewer than --devices says. */
int devices_count(const Options* options, Failure* failure);

/* Slab i goes to device i; or to the host, if the device runs its regions there, and this is noted. */
void devices_enter(Grid* grid, Failure* failure);

/* The field that step `step` would read comes back, without halos; nothing stays on the devices. */
void devices_leave(Grid* grid, int step);

#endif
