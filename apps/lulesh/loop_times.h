/* SPDX-License-Identifier: Apache-2.0
 *
 * How long each loop takes in the form `serial`: --loop-times. Main thread only.
 */
#ifndef LULESH_LOOP_TIMES_H
#define LULESH_LOOP_TIMES_H

#include "phases.h"

/* From now on loops are timed; NULL: not enough memory. Freed by loop_times_end. */
typedef struct LoopTimes LoopTimes;
LoopTimes* loop_times_begin(Fields* fields);

/* Prints a figure for each loop: microseconds per cycle. */
void loop_times_print(const LoopTimes* times, int cycles);
void loop_times_end(LoopTimes* times);

#endif
