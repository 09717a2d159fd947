/* SPDX-License-Identifier: Apache-2.0
 *
 * The same simulation once more, as simply as it can be written: one thread, no blocks, no tasks, no messages, each
 * pair once. It shares the initial state with the program and nothing else. Main thread only.
 */
#ifndef NBODY_REFERENCE_H
#define NBODY_REFERENCE_H

#include "bodies.h"

/* All bodies after `steps` steps; NULL if memory does not suffice. softening is a length. */
Body* reference_simulate(long long seed, int bodies, double softening, double dt, int steps);
void reference_free(Body* bodies);

#endif
