/* SPDX-License-Identifier: Apache-2.0
 *
 * Counters of the engine's work (marline_mpi_counters_read in marline_mpi.h). Polls are always counted, by the poller
 * only. Times are measured only with MARLINE_MPI_COUNTERS=true, because they need two reads of the clock per
 * suspension.
 */
#ifndef MARLINE_MPI_COUNTERS_H
#define MARLINE_MPI_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

/* Called in MPI_Init. Makes Marline measure its part, too, if times are to be taken. */
void counters_start(void);

/* Called in MPI_Finalize: prints the counters if that was asked for. */
void counters_stop(void);

/* Whether times are taken. */
extern bool counters_timing; /* written by counters_start */
static inline bool counters_time(void) { return counters_timing; }

/* Nanoseconds, of CLOCK_MONOTONIC. */
uint64_t counters_clock(void);

/* Called by the poller: a poll begins; it has found a call complete, which is not reported yet. */
void counters_of_poll(void);
void counters_of_hit(void);

/* A task goes on; the poll that saw its call complete was at `seen` (0: before times were taken). Any thread. */
void counters_of_resumption(uint64_t seen);

#endif
