/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests for messages for which tasks wait (MPI_Probe, MPI_Mprobe). Only the poller uses this.
 */
#ifndef MARLINE_MPI_PROBES_H
#define MARLINE_MPI_PROBES_H

#include <stdbool.h>

#include "engine/pending.h"

/* From now on, polls test this call: it has a finished(), and its communicator, peer and tag say which message it is
 * for. Returns false if there are too many communicators with probes. */
bool probes_put(Pending* probe);

/* Takes out the probes with a message that has arrived, and calls report() for each. The cost has a bound, except for
 * a search among the probes of a communicator, a nanosecond each, when a message has arrived. */
void probes_poll(void (*report)(Pending* probe));

/* Forgets all probes. */
void probes_clear(void);

#endif
