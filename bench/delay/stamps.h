/* SPDX-License-Identifier: Apache-2.0
 *
 * When messages were sent. Each process has a board in memory that the processes of its node share; a sender notes the
 * time of its send on the receiver's board before it calls MPI, so the time is there before the message is.
 *
 * Which note belongs to which receive: MPI matches messages of one sender, communicator and tag with the receives for
 * them in order; so sender and receiver count each on its own, and the number, with sender, communicator and tag, is
 * the note's name. A receive that could take a message from others' sequences (any source, any tag, a matched probe, a
 * persistent or a cancelled one) makes the counts useless: from then on this process trusts no note.
 *
 * A board is a table without collision lists: a lost note makes the receiver take the time at which it sees the
 * message, which is never too early. The same holds for other nodes and for communicators that are not known here
 * (known are MPI_COMM_WORLD and what MPI_Comm_dup, _split, _split_type, _create and MPI_Cart_create made of known
 * ones). Two threads that send with one tag to one receiver at once may swap their notes, which differ by the length of
 * a call.
 */
#ifndef MARLINE_DELAY_STAMPS_H
#define MARLINE_DELAY_STAMPS_H

#include <mpi.h>
#include <stdint.h>

/* Collective, after MPI_Init and before MPI_Finalize. */
void stamps_start(void);
void stamps_stop(void);

/* A communicator that all processes of `parent` have made together; `child` may be MPI_COMM_NULL. */
void stamps_adopt(MPI_Comm parent, MPI_Comm child);

/* Before a message is sent: notes the time, or with links that of its arrival. */
void stamps_send(int destination, int tag, MPI_Comm comm, int count, MPI_Datatype type);

/* A receive is about to be posted: the name of its note, 0 if there is none. */
uint64_t stamps_receive(int source, int tag, MPI_Comm comm);

/* A receive after which the counts are useless, by its name: with links the job ends. */
void stamps_distrust(const char* call);

/* The time by this process' board, in nanoseconds; -1 if it is not there. */
int64_t stamps_read(uint64_t stamp, int64_t now);

#endif
