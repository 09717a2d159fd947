/* SPDX-License-Identifier: Apache-2.0
 *
 * Which rank exchanges rows with which rank, in which order, and under which tags. Constant; used by any thread.
 *
 * Pairs of neighbours come in two turns: those whose upper rank is even, then the others; within a pair first the upper
 * rank sends, then the lower. So the messages of an iteration have one order for all ranks, and blocking calls in that
 * order cannot wait for each other in a circle.
 */
#ifndef APPS_EXCHANGE_H
#define APPS_EXCHANGE_H

#include <stdbool.h>

/* One message of an iteration, as this rank sees it. */
typedef struct {
  bool sends; /* else it receives */
  bool upper; /* with the neighbour above, else below */
  int neighbour;
  int tag; /* for one direction and plane: of such messages one is under way at a time */
} Message;

enum { kMostMessages = 4 };

/* This rank's messages of an iteration, in order; how many there are. `planes`: iterations take turns with so many. */
int exchange_messages(int ranks, int rank, int planes, int iteration, Message messages[kMostMessages]);

#endif
