/* SPDX-License-Identifier: Apache-2.0
 *
 * Steps on the host: for --host, for the ranks of minimod-mpi and for the serial run. Called by the main thread.
 */
#ifndef MINIMOD_HOST_H
#define MINIMOD_HOST_H

#include "grid.h"

/* One step on a part of a slab, by the threads of a parallel loop. */
void host_part(const Grid* grid, const Slab* slab, int step, int part);

/* The same, computed by one thread. */
void host_part_serial(const Grid* grid, const Slab* slab, int step, int part);

#endif
