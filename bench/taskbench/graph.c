/* SPDX-License-Identifier: Apache-2.0
 *
 * The patterns of the task graph, forwards (what a task reads) and backwards (which tasks read it). Pure functions of
 * the parameters; see graph.h for the invariant that ties the two directions together.
 */
#include "graph.h"

#include <stddef.h>

const char* const kPatternNames[kPatterns] = {"trivial", "no_comm", "stencil_1d",    "stencil_1d_periodic",
                                              "dom",     "tree",    "fft",           "all_to_all",
                                              "nearest", "spread",  "random_nearest"};

double graph_uniform(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
  return (double)(mix(mix(mix(mix(a) ^ b) ^ c) ^ d) >> 11) * 0x1p-53;
}

static long ceil_log2(long x) {
  long levels = 0;
  while ((1L << levels) < x) ++levels;
  return levels;
}

static long min(long a, long b) { return a < b ? a : b; }
static long max(long a, long b) { return a > b ? a : b; }

/* Inserts an interval in order and joins it with intervals that it overlaps or touches. */
static void add(struct IntervalSet* set, long first, long last) {
  int from = 0;
  while (from < set->count && set->at[from].last + 1 < first) ++from;
  int to = from;
  for (; to < set->count && set->at[to].first <= last + 1; ++to) {
    first = min(first, set->at[to].first);
    last = max(last, set->at[to].last);
  }
  if (to == from) {
    for (int k = set->count++; k > from; --k) set->at[k] = set->at[k - 1];
  } else {
    for (int k = to; k < set->count; ++k) set->at[k - (to - from) + 1] = set->at[k];
    set->count -= to - from - 1;
  }
  set->at[from] = (struct Interval){first, last};
}

static void add_inside(struct IntervalSet* set, long first, long last, long width) {
  first = max(first, 0);
  last = min(last, width - 1);
  if (first <= last) add(set, first, last);
}

static void add_modulo(struct IntervalSet* set, long column, long width) {
  column = (column % width + width) % width;
  add(set, column, column);
}

const char* graph_check(const struct Graph* graph) {
  if (graph->width < 1 || graph->width > 1L << 20) return "--width must be 1 to 1048576";
  if (graph->steps < 1 || graph->steps > 1L << 30) return "--steps must be 1 to 1073741824";
  int few = graph->pattern == kSpread || graph->pattern == kRandomNearest;
  if (graph->radix < 0) return "--radix must not be negative";
  if (few && graph->radix > kMaxIntervals) return "--radix must be at most 64 for spread and random_nearest";
  if (graph->pattern == kSpread && (graph->radix < 1 || graph->radix > graph->width))
    return "--radix must be 1 to --width for spread";
  if (!(graph->fraction >= 0 && graph->fraction <= 1)) return "--fraction must be 0 to 1";
  return NULL;
}

long graph_width_at(const struct Graph* graph, long t) {
  if (graph->pattern != kTree || t >= ceil_log2(graph->width)) return graph->width;
  return 1L << t;
}

struct Cycle graph_cycle(const struct Graph* graph) {
  switch (graph->pattern) {
    /* The step after the last one with a growing width. */
    case kTree: return (struct Cycle){ceil_log2(graph->width) + 1, 1};
    case kFft: return (struct Cycle){1, max(1, ceil_log2(graph->width))};
    case kSpread: return (struct Cycle){1, (graph->width + graph->radix - 1) / graph->radix};
    case kRandomNearest: return (struct Cycle){1, kRandomPeriod};
    default: return (struct Cycle){1, 1};
  }
}

static int is_kept(const struct Graph* graph, long phase, long reader, long read) {
  return graph_uniform(graph->seed, (uint64_t)phase, (uint64_t)reader, (uint64_t)read) < graph->fraction;
}

/* The position of the k-th input of spread, relative to its reader: evenly over the row, one further each step. */
static long spread_offset(const struct Graph* graph, long phase, long k) {
  return k * graph->width / graph->radix + (phase - 1);
}

void graph_dependences(const struct Graph* graph, long t, long i, struct IntervalSet* out) {
  long width = graph->width, radix = graph->radix, phase = cycle_phase(graph_cycle(graph), t);
  out->count = 0;
  if (t == 0) return;
  switch (graph->pattern) {
    case kTrivial: return;
    case kNoComm: add(out, i, i); return;
    case kStencil: add_inside(out, i - 1, i + 1, width); return;
    case kStencilPeriodic:
      for (long k = -1; k <= 1; ++k) add_modulo(out, i + k, width);
      return;
    case kDom: add_inside(out, i - 1, i, width); return;
    case kTree:
      i = phase <= ceil_log2(width) ? i / 2 : i;
      add(out, i, i);
      return;
    case kFft:
      add(out, i, i);
      add_inside(out, i - (1L << (phase - 1)), i - (1L << (phase - 1)), width);
      add_inside(out, i + (1L << (phase - 1)), i + (1L << (phase - 1)), width);
      return;
    case kAllToAll: add(out, 0, width - 1); return;
    case kNearest: add_inside(out, i - radix / 2, i - radix / 2 + radix - 1, width); return;
    case kSpread:
      for (long k = 0; k < radix; ++k) add_modulo(out, i + spread_offset(graph, phase, k), width);
      return;
    case kRandomNearest:
      for (long j = i - radix / 2; j < i - radix / 2 + radix; ++j)
        if (is_kept(graph, phase, i, j)) add_inside(out, j, j, width);
      return;
    case kPatterns: return;
  }
}

void graph_readers(const struct Graph* graph, long t, long i, struct IntervalSet* out) {
  long width = graph->width, radix = graph->radix;
  out->count = 0;
  if (t + 1 >= graph->steps) return;
  long phase = cycle_phase(graph_cycle(graph), t + 1);
  switch (graph->pattern) {
    case kTrivial: return;
    case kNoComm: add(out, i, i); return;
    case kStencil: add_inside(out, i - 1, i + 1, width); return;
    case kStencilPeriodic:
      for (long k = -1; k <= 1; ++k) add_modulo(out, i + k, width);
      return;
    case kDom: add_inside(out, i, i + 1, width); return;
    case kTree:
      if (phase <= ceil_log2(width))
        add_inside(out, 2 * i, 2 * i + 1, graph_width_at(graph, t + 1));
      else
        add(out, i, i);
      return;
    case kFft:
      add(out, i, i);
      add_inside(out, i - (1L << (phase - 1)), i - (1L << (phase - 1)), width);
      add_inside(out, i + (1L << (phase - 1)), i + (1L << (phase - 1)), width);
      return;
    case kAllToAll: add(out, 0, width - 1); return;
    case kNearest: add_inside(out, i + radix / 2 - radix + 1, i + radix / 2, width); return;
    case kSpread:
      for (long k = 0; k < radix; ++k) add_modulo(out, i - spread_offset(graph, phase, k), width);
      return;
    case kRandomNearest:
      for (long j = i + radix / 2 - radix + 1; j <= i + radix / 2; ++j)
        if (is_kept(graph, phase, j, i)) add_inside(out, j, j, width);
      return;
    case kPatterns: return;
  }
}
