/* SPDX-License-Identifier: Apache-2.0
 *
 * How far the messages of tasks run ahead of their receivers.
 *
 * A small message that nobody has asked for yet waits in a list of the receiver's MPI, and each receive searches that
 * list. A graph of tasks can send the messages of hundreds of iterations before the first is received: the list grows
 * without bound, and the time for all messages with the square of their number. So tasks that send to one rank get a
 * window, as in a transport protocol.
 *
 * MPI does not tell a sender what has been received, unless the send is synchronous. So every few messages one is a
 * sample: its bytes are copied and sent by MPI_Issend, and the program's own request is complete from the start, as
 * that of a small message mostly is. If more samples are open than the window has room for, a task that sends is held:
 * it goes on to its end, but does not complete (marline_task_hold) until samples have been received. So what waits is
 * what comes after it in the graph; no call blocks, and no message is delayed that the graph allows now.
 *
 * The receiver may want another message first, of a task that comes after a held one. So a hold has an end: if no
 * sample has been received for a while, the tasks that have been held longest are released, as many as the window has
 * room for, and the window doubles. So no program waits for ever, and one whose receives are in another order gets the
 * window that it needs. docs/design/run-ahead.md.
 */
#ifndef MARLINE_MPI_RUN_AHEAD_H
#define MARLINE_MPI_RUN_AHEAD_H

#include "base/mpi_library.h"

/* Called in front of a standard send (MPI_Send, MPI_Isend) with its arguments. Returns the rank to send to: `dest`, or
 * MPI_PROC_NULL if the message has been sent here, as a sample. Any thread. */
int run_ahead_destination(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);

/* Ends holds that have lasted too long. The poller. */
void run_ahead_poll(void);

/* Samples that have not been received. The poller, or when there is none any more. */
int run_ahead_samples(void);

/* Before MPI_Finalize, when nobody polls any more: what is not received yet is left to MPI. */
void run_ahead_stop(void);

#endif
