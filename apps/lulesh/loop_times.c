/* SPDX-License-Identifier: Apache-2.0
 *
 * Measures the time of each loop. A part of a region may have few elements, so the two readings of the clock per loop,
 * some 50 ns, have an effect if there are many regions.
 */
#include "loop_times.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "loop_table.h"

enum { kMostLoops = 64 };

struct LoopTimes {
  Watch watch;
  double seconds[kMostLoops]; /* in the order of kLoops */
};

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void time_loop(Watch* watch, Fields* fields, Loop* loop, Range range) {
  LoopTimes* times = (LoopTimes*)watch;
  double start = now();
  loop(fields, range.begin, range.end);
  times->seconds[loop_info(loop) - kLoops] += now() - start;
}

LoopTimes* loop_times_begin(Fields* fields) {
  LoopTimes* times = calloc(1, sizeof *times);
  if (times) {
    times->watch.loop = time_loop;
    fields->watch = &times->watch;
  }
  return times;
}

void loop_times_print(const LoopTimes* times, int cycles) {
  for (const LoopInfo* info = kLoops; info->name; ++info) {
    printf("loop_%s %.6g us\n", info->name, 1e6 * times->seconds[info - kLoops] / cycles);
  }
}

void loop_times_end(LoopTimes* times) { free(times); }
