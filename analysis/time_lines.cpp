// SPDX-License-Identifier: Apache-2.0
//
// Two sorted lists, of points and of intervals, read side by side.
#include "time_lines.h"

#include <algorithm>

namespace {

// Whether (task, time) comes before (other task, other time).
bool is_before(uint64_t task, int64_t time, uint64_t other_task, int64_t other_time) {
  return task != other_task ? task < other_task : time < other_time;
}

}  // namespace

void marline_sort_points(const MarlinePoints* points, const double* order, int64_t* places) {
  for (int64_t at = 0; at < points->count; ++at) places[at] = at;
  std::sort(places, places + points->count, [=](int64_t a, int64_t b) {
    if (points->task[a] != points->task[b]) return points->task[a] < points->task[b];
    if (points->time[a] != points->time[b]) return points->time[a] < points->time[b];
    return order[a] != order[b] ? order[a] < order[b] : a < b;
  });
}

void marline_covered(const MarlinePoints* points, const MarlineIntervals* intervals, int64_t* covered) {
  int64_t at = 0, done = 0;  // the first interval that may end after the point; the sum of those before, of its task
  for (int64_t point = 0; point < points->count; ++point) {
    const uint64_t task = points->task[point];
    const int64_t time = points->time[point];
    if (point == 0 || points->task[point - 1] != task) done = 0;
    while (at < intervals->count && intervals->task[at] < task) ++at;
    for (; at < intervals->count && intervals->task[at] == task && intervals->end[at] <= time; ++at)
      done += intervals->end[at] - intervals->start[at];
    const bool is_inside = at < intervals->count && intervals->task[at] == task && intervals->start[at] < time;
    covered[point] = done + (is_inside ? time - intervals->start[at] : 0);
  }
}

void marline_points_at(const MarlinePoints* points, const MarlineIntervals* intervals, int64_t* at_start,
                       int64_t* at_end) {
  int64_t next = 0;  // the first point after the time that is looked for
  const auto last_at = [&](uint64_t task, int64_t time) -> int64_t {
    while (next < points->count && !is_before(task, time, points->task[next], points->time[next])) ++next;
    return next > 0 && points->task[next - 1] == task ? next - 1 : -1;
  };
  for (int64_t at = 0; at < intervals->count; ++at) {
    at_start[at] = last_at(intervals->task[at], intervals->start[at]);
    at_end[at] = last_at(intervals->task[at], intervals->end[at]);
  }
}
