/* SPDX-License-Identifier: Apache-2.0
 *
 * Tasks that wait for a message to be there (MPI_Probe, MPI_Mprobe). Only the poller uses this.
 */
#ifndef MARLINE_MPI_PROBES_H
#define MARLINE_MPI_PROBES_H

#include <stdbool.h>

#include "engine/engine.h"

/* From now on asked about: the call has a finished(), and its communicator, peer and tag say which message it is for.
 * False: there are too many communicators with probes. */
bool probes_put(Pending* probe);

/* Takes out those whose message is there, and calls tell() for each. What it costs has a bound but for a search among
 * the probes of a communicator, a nanosecond each, where a message is there. */
void probes_poll(void (*tell)(Pending* probe));

/* Forgets them all. */
void probes_clear(void);

#endif
