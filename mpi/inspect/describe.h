/* SPDX-License-Identifier: Apache-2.0
 *
 * What libmarline-mpi adds to `marline ps` (docs/design/inspection.md): this rank, the locations of the other ranks of
 * its MPI_COMM_WORLD, the communicators, and messages that have arrived and that no call receives.
 */
#ifndef MARLINE_MPI_DESCRIBE_H
#define MARLINE_MPI_DESCRIBE_H

#include <stdbool.h>

/* Called after MPI_Init, on all ranks, which exchange where they are. `thread_level` is what MPI provides. */
void describe_start(int thread_level);

/* Called before MPI_Finalize: no MPI call is made for `marline ps` after this returns. */
void describe_stop(void);

#endif
