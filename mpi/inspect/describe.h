/* SPDX-License-Identifier: Apache-2.0
 *
 * What libmarline-mpi adds to `marline ps` (docs/design/inspection.md): this rank, the locations of the other ranks of
 * its MPI_COMM_WORLD, the communicators, and messages that have arrived and that no call receives.
 */
#ifndef MARLINE_MPI_DESCRIBE_H
#define MARLINE_MPI_DESCRIBE_H

#include <stdbool.h>

/* After MPI_Init, on all ranks: they tell each other where they are. `thread_level` is what MPI provides. */
void describe_start(int thread_level);

/* Before MPI_Finalize: no call of MPI is made for `marline ps` when this returns. */
void describe_stop(void);

#endif
