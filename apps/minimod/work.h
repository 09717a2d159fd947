/* SPDX-License-Identifier: Apache-2.0
 *
 * What a series of steps does: all, or for --overlap one half of it, so that it is seen what the other half adds.
 */
#ifndef MINIMOD_WORK_H
#define MINIMOD_WORK_H

typedef enum { kWorkAll, kWorkKernels, kWorkHalos, kWorks } Work;

enum { kOverlapTurns = 3 }; /* series of each kind, which take turns */

#endif
