/* SPDX-License-Identifier: Apache-2.0
 *
 * Requests with a completion that is held back. A request of a receive or a collective is noted when it is made. held()
 * asks MPI whether it has completed by a call that leaves it alone (MPI_Request_get_status), and says yes until it has
 * and its time has come; from then on MPI's own calls complete it, as any other request. So handles, statuses and
 * errors are MPI's, and a request is never completed before its time.
 *
 * The table is guarded by one lock; an entry belongs to the thread that asks for its request, as MPI allows one only.
 */
#ifndef MARLINE_DELAY_HELD_H
#define MARLINE_DELAY_HELD_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* `stamp`: where the sender notes a time (stamps.h), 0 if it does not. The request's time is then that plus the delay,
 * otherwise the time at which its completion is first seen plus the delay; with links, see links_last() and
 * links_latency(). */
void held_add(MPI_Request request, uint64_t stamp);
void held_forget(MPI_Request request);

/* True if the request must be taken for incomplete. */
bool held(MPI_Request request);
bool any_held(int count, const MPI_Request* requests);

/* For a call that has blocked in MPI: returns when a message with that stamp, or one seen now, is due. */
void linger(uint64_t stamp);

#endif
