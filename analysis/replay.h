/* SPDX-License-Identifier: Apache-2.0
 *
 * A model of Marline's scheduler (docs/design/life-of-a-task.md) that runs the graph of a trace once more: what the run
 * would have taken with other costs, messages or threads. A simulation of events: pieces of tasks that end, messages
 * that arrive, threads that look for work. python/marline/trace/what_if calls it by ctypes. All arrays are the
 * caller's; times are nanoseconds from the beginning. Deterministic, no state, thread-safe.
 */
#ifndef MARLINE_ANALYSIS_REPLAY_H
#define MARLINE_ANALYSIS_REPLAY_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of a point, in `waits`. */
enum {
  kMarlineKeepsThread = 1, /* a task that waits here keeps its thread */
  kMarlineNoWakeUp = 2,    /* what it costs to go on here is in the delays of the edges */
};

/* Of a task, in `traits`. */
enum {
  kMarlineTied = 1,       /* goes on only on the thread on which it began */
  kMarlineUndeferred = 2, /* its creator's thread runs it next: the creator waits for it */
  kMarlineAtOnce = 4,     /* runs where it is created, before its creator goes on */
};

/* Points 0 to first[0] - 1 belong to no task: there, what a barrier or a collective waits for comes together. Task t
 * has points first[t] to first[t + 1] - 1, at least one, and works work[p] ns between points p and p + 1. Edge e says
 * that point sink[e] comes no earlier than delay[e] after point source[e]; an edge into the first point of a task is
 * what the task waits for before it is ready. A task without such an edge is ready at begins[t]. A task with thread[t]
 * >= 0 runs on that thread of its rank only. Of ready tasks, a thread takes one of the highest priority; those of
 * priority 0 come last. */
typedef struct MarlineReplay {
  int64_t points;
  int64_t edges;
  int64_t tasks;
  int64_t ranks;
  const int64_t* first; /* tasks + 1 */
  const int64_t* work;  /* by point */
  const uint8_t* waits;
  const int64_t* source; /* by edge */
  const int64_t* sink;
  const int64_t* delay;
  const int64_t* rank; /* by task */
  const int64_t* thread;
  const int64_t* priority;
  const int64_t* begins;
  const uint8_t* traits;
  const int64_t* threads;  /* by rank, at least one */
  const int64_t* dispatch; /* from the end of a task to the begin of the next one on its thread */
  const int64_t* wake_up;  /* from when a task is ready to its begin on a thread that had none */
  int64_t most_queued;     /* with so many tasks in its queue, a thread runs a new one at once */
} MarlineReplay;

/* Why a point was not reached earlier, in `cause`, where it is no edge. */
enum {
  kMarlineBegan = -1,  /* nothing came before */
  kMarlineWorked = -2, /* the task's work since its point before */
  kMarlineThread = -3, /* its thread was busy */
};

/* Writes by point when the model reaches it (-1: never), the cause, an edge or one of the above, and which point came
 * before by that cause, or -1. Returns the number of tasks that never end, as all threads or messages that they need
 * wait for them; -1 if there is no memory; -2 if a number is out of range, or there are 2^31 points or edges. */
__attribute__((visibility("default"))) int64_t marline_replay(const MarlineReplay* run, int64_t* time, int32_t* cause,
                                                              int32_t* before);

/* The points from `from` back by before[], of `points` elements: writes them into `path`. Returns how many. */
__attribute__((visibility("default"))) int64_t marline_replay_chain(const int32_t* before, int64_t points, int64_t from,
                                                                    int64_t* path);

#ifdef __cplusplus
}
#endif

#endif
