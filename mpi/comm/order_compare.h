/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares the calls of two processes with one number on one communicator: do they belong together? Used by the poller.
 */
#ifndef MARLINE_MPI_ORDER_COMPARE_H
#define MARLINE_MPI_ORDER_COMPARE_H

#include <stdint.h>

#include "comm/collective_log.h"

enum { kOrderNameBytes = 48, kOrderSiteBytes = 96 };

/* A call as it is sent to another process. */
typedef struct OrderCall {
  uint64_t identity; /* of the communicator */
  uint64_t number;
  uint64_t oldest; /* oldest call in progress on that process when this one began */
  int64_t bytes;   /* -1: cannot be compared */
  int32_t root;    /* kNoPeer: the operation has none */
  int32_t rank;    /* rank of the caller in MPI_COMM_WORLD */
  char name[kOrderNameBytes];
  char site[kOrderSiteBytes]; /* "program+0x1234" */
} OrderCall;

/* The call of process `rank` that the record describes. */
OrderCall order_call(uint64_t identity, const LoggedCollective* record, int rank);

/* Compares the call of another process with this process's call of the same number. Ends the job with a line if the
 * two processes do not make their calls in one order. */
void order_compare(const OrderCall* theirs, const OrderCall* ours);

#endif
