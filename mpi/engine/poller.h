/* SPDX-License-Identifier: Apache-2.0
 *
 * The poller: starts and stops the engine, and tests the calls in which tasks wait.
 */
#ifndef MARLINE_MPI_POLLER_H
#define MARLINE_MPI_POLLER_H

/* Called before MPI_Init: MPI_Init and all later calls are made by one thread of this library (owner.h). */
void poller_take_over(void);

/* Called once after MPI_Init: suspension works from here on. Reports if it cannot. `thread_level` is what MPI
 * provides. MARLINE_MPI_PROGRESS says whether Marline's threads poll or a thread of the engine. */
void poller_start(int thread_level);

/* Called before MPI_Finalize: the engine makes no MPI call after this returns. */
void poller_stop(void);

#endif
