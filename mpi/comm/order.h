/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds collectives that the processes of a communicator begin in different orders. It checks only calls whose order
 * depends on timing: two calls of one process in progress on one communicator at once, which only concurrent tasks or
 * threads make. The protocol, and why it raises no false alarm, is in docs/design/collective-order.md.
 *
 * The thread that calls MPI does the first half: a number and an entry in the communicator's log
 * (collective_log.h), and where calls overlap, notices for the poller. The poller does the rest, over a communicator of
 * its own; it alone sends, receives and compares.
 */
#ifndef MARLINE_MPI_ORDER_H
#define MARLINE_MPI_ORDER_H

#include "comm/collective_log.h"

/* A collective call between its begin and its end; log is NULL where it is not compared. Nothing of it is looked at by
 * others. */
typedef struct OrderTicket {
  CollectiveLog* log;
  uint64_t number;
} OrderTicket;

/* In front of a collective call, to the end of the block. An error handler's C++ exception may leave it. */
#define IN_ORDER(name, site, ...) \
  __attribute__((cleanup(order_end))) const OrderTicket name = order_begin(__VA_ARGS__, site)

/* `site`: the return address of the call. */
OrderTicket order_begin(const MpiCall* call, const void* site);
void order_end(const OrderTicket* ticket);

/* MPI has accepted the call, in which all processes must name as many bytes. */
void order_sized(const OrderTicket* ticket, const MpiCall* call);

/* In MPI_Init and MPI_Finalize of all processes: makes the poller's communicator; waits for all messages on it, and
 * frees it. Nobody polls any more when order_stop() is called. */
void order_start(void);
void order_stop(void);

/* The poller's part; a few nanoseconds in most calls. */
void order_poll(void);

#endif
