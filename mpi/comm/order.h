/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds collectives that the processes of a communicator begin in different orders. It checks only calls with an order
 * that depends on timing: two calls of one process in progress on one communicator at the same time, which only
 * concurrent tasks or threads make. The protocol, and why it raises no false alarm, is in
 * docs/design/collective-order.md.
 *
 * The thread that calls MPI does the first half: it takes a number, writes an entry in the communicator's log
 * (collective_log.h), and leaves notices for the poller if calls overlap. The poller does the rest, over a communicator
 * of its own; only the poller sends, receives and compares.
 */
#ifndef MARLINE_MPI_ORDER_H
#define MARLINE_MPI_ORDER_H

#include "comm/collective_log.h"

/* A collective call between its begin and its end; log is NULL if the call is not compared. Other threads do not
 * look at it. */
typedef struct OrderTicket {
  CollectiveLog* log;
  uint64_t number;
} OrderTicket;

/* Stands before a collective call and lasts to the end of the block, which an error handler's C++ exception may
 * leave. */
#define IN_ORDER(name, site, ...) \
  __attribute__((cleanup(order_end))) const OrderTicket name = order_begin(__VA_ARGS__, site)

/* `site`: the return address of the call. */
OrderTicket order_begin(const MpiCall* call, const void* site);
void order_end(const OrderTicket* ticket);

/* MPI has accepted the call, and all processes must pass the same number of bytes in it. */
void order_sized(const OrderTicket* ticket, const MpiCall* call);

/* Called in MPI_Init and MPI_Finalize of all processes. order_start() makes the poller's communicator; order_stop()
 * waits for all messages on it, and frees it. No thread polls any more when order_stop() is called. */
void order_start(void);
void order_stop(void);

/* The poller's part; takes a few nanoseconds in most calls. */
void order_poll(void);

#endif
