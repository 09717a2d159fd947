/* SPDX-License-Identifier: Apache-2.0
 *
 * Points and intervals on the time lines of tasks. Points are sorted by task and time; intervals by task and start, and
 * those of one task do not overlap. Each function is one pass over both. All arrays are the caller's; times are
 * nanoseconds. No state; thread-safe.
 */
#ifndef MARLINE_ANALYSIS_TIME_LINES_H
#define MARLINE_ANALYSIS_TIME_LINES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct MarlinePoints {
  int64_t count;
  const uint64_t* task;
  const int64_t* time;
} MarlinePoints;

typedef struct MarlineIntervals {
  int64_t count;
  const uint64_t* task;
  const int64_t* start;
  const int64_t* end;
} MarlineIntervals;

/* Sorts points that are not: places[k] becomes the point that is the k-th by task, then time, then `order`. */
__attribute__((visibility("default"))) void marline_sort_points(const MarlinePoints* points, const double* order,
                                                                int64_t* places);

/* covered[p]: how much of the intervals of its task lies before point p. */
__attribute__((visibility("default"))) void marline_covered(const MarlinePoints* points,
                                                            const MarlineIntervals* intervals, int64_t* covered);

/* at_start[i], at_end[i]: the last point of its task that is not later than interval i's start, or end; -1: none. */
__attribute__((visibility("default"))) void marline_points_at(const MarlinePoints* points,
                                                              const MarlineIntervals* intervals, int64_t* at_start,
                                                              int64_t* at_end);

#ifdef __cplusplus
}
#endif

#endif
