/* SPDX-License-Identifier: Apache-2.0
 *
 * Which rank exchanges rows with which rank, in which order, and under which tags. Constant; used by any thread.
 *
 * Pairs of neighbours come in two turns: those whose upper rank is even, then the others; within a pair first the upper
 * rank sends, then the lower. So the messages of an iteration have one order for all ranks, and blocking calls in that
 * order cannot wait for each other in a circle.
 */
#ifndef JACOBI_EXCHANGE_H
#define JACOBI_EXCHANGE_H

#include <stdbool.h>

/* One message of an iteration, as this rank sees it. */
typedef struct {
  bool sends; /* else it receives */
  bool upper; /* with the neighbour above, else below */
  int neighbour;
  int tag; /* messages of one tag are as many iterations apart as there are planes, and ordered by dependences */
} Message;

enum { kMostMessages = 4 };

/* The messages by which this rank's neighbours' rows of an iterate arrive, in order; how many there are. */
int exchange_messages(int ranks, int rank, int planes, int iterate, Message messages[kMostMessages]);

#endif
