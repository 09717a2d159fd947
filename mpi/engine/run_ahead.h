/* SPDX-License-Identifier: Apache-2.0
 *
 * Limits how far the messages of tasks run ahead of their receivers.
 *
 * A small message that no call has asked for yet waits in a list of the receiver's MPI, and each receive searches that
 * list. A graph of tasks can send the messages of hundreds of iterations before the first is received: the list grows
 * without bound, and the time for all messages grows with the square of their number. So tasks that send to one rank
 * get a window, as in a transport protocol.
 *
 * MPI does not report to a sender what has been received, unless the send is synchronous. So one in several messages is
 * a sample: its bytes are copied and sent by MPI_Issend, and the program's own request is complete from the start, as
 * that of a small message mostly is. If more samples are open than the window has room for, a task that sends is held:
 * it runs to its end, but does not complete (marline_task_hold) until samples have been received. So only its
 * successors in the graph wait; no call blocks, and no message is delayed that the graph allows now.
 *
 * The receiver may first want another message, of a successor of a held task. So a hold has an end: if no sample has
 * been received for a while, the tasks that have been held longest are released, as many as the window has room for,
 * and the window doubles. So no program waits for ever, and a program that receives in another order gets the window
 * that it needs. The design is in docs/design/run-ahead.md.
 */
#ifndef MARLINE_MPI_RUN_AHEAD_H
#define MARLINE_MPI_RUN_AHEAD_H

#include "base/mpi_library.h"

/* Called before a standard send (MPI_Send, MPI_Isend) with its arguments. Returns the rank to send to: `dest`, or
 * MPI_PROC_NULL if this function has sent the message, as a sample. Any thread. */
int run_ahead_destination(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);

/* Ends holds that have lasted too long. Called by the poller. */
void run_ahead_poll(void);

/* How many samples have not been received. Called by the poller, or when there is none any more. */
int run_ahead_samples(void);

/* Called before MPI_Finalize, when no thread polls any more: samples that are not received yet are left to MPI. */
void run_ahead_stop(void);

#endif
