/* SPDX-License-Identifier: Apache-2.0
 *
 * Links between made-up nodes, by MPI_LINK and MPI_NODES_AS: the model, the list and the arithmetic are the same as for
 * MARLINE_LINK (offload/wire/model/link_speed.hpp, which is compiled into this library, too). The sender takes the link
 * of the two nodes before it calls MPI, and so knows when the message will have arrived. All processes are on one
 * machine. Any thread after links_start().
 */
#ifndef MARLINE_DELAY_LINKS_H
#define MARLINE_DELAY_LINKS_H

#include <stdbool.h>
#include <stdint.h>

/* Collective, after MPI_Init and before MPI_Finalize. Without MPI_LINK there are no links. */
void links_start(void);
void links_stop(void);

/* Constant after links_start(). */
bool links_are_there(void);

/* MPI_Pcontrol: whether links are slow just now. */
void links_switch(bool on);

/* When a message between these ranks of MPI_COMM_WORLD has arrived that is sent now; moves what the link is busy until.
 */
int64_t links_send(int from, int to, int64_t bytes);

/* When all that has been sent to this process' node has arrived: for a message with no known time of its own. */
int64_t links_last(void);

/* The largest latency of all links: what a collective takes, whatever its bytes. */
int64_t links_latency(void);

/* Ends the job with a line if there are links: `what` cannot be timed on them. */
void links_refuse(const char* what);

#endif
