/* SPDX-License-Identifier: Apache-2.0
 *
 * What the two forms with tasks share: the creation of the tasks of an iteration. The creator, one thread per rank,
 * never waits; depend clauses are all that orders the tasks, from iteration to iteration too.
 */
#ifndef HALO_COMPUTE_H
#define HALO_COMPUTE_H

#include "exchange.h"
#include "forms.h"

/* Creates the task of a message. */
typedef void (*MessageTask)(const Work* work, int iteration, const Message* message);

/* All tasks of all iterations. Called in a single region. */
void create_tasks(const Work* work, MessageTask send, MessageTask receive);

/* What a message's task names in its clause: the block that it reads, or the neighbour's row that it writes. */
double* message_block(const Grid* grid, int iteration, const Message* message);

#endif
