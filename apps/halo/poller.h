/* SPDX-License-Identifier: Apache-2.0
 *
 * A thread of the program's own that asks MPI about requests, and fulfils the event of a detached task when its request
 * is complete: what a program does that wants its messages to overlap on any OpenMP runtime. It yields after each
 * question and sleeps while there is nothing to ask for.
 */
#ifndef HALO_POLLER_H
#define HALO_POLLER_H

#include <mpi.h>
#include <omp.h>
#include <stdbool.h>

/* False if there is no thread to be had. */
bool poller_start(void);
void poller_stop(void); /* all events have been fulfilled; it may be started again */

/* By any thread: the event is fulfilled when the request is complete. */
void poller_add(MPI_Request request, omp_event_handle_t event);

#endif
