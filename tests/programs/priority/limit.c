/* SPDX-License-Identifier: Apache-2.0
 *
 * At the limit of queued tasks (MARLINE_MAX_READY=4), a creation runs the most urgent task in its own place, new or
 * taken from the queue. Here such tasks block in every way, create tasks of their own, and are children of the current
 * task or of another one; all of them run once, and each wait ends only after the tasks that it waits for. Usage:
 * limit SEED.
 *
 * Covers: marline priorities, task(priority, depend:inout, untied), taskwait, taskgroup, taskyield, omp_set_lock
 */
#include "../check.h"
#include <omp.h>
#include <stdint.h>

enum { kDepth = 4, kChildren = 9, kWays = 6 };

static omp_lock_t lock;
static long guarded;
static char data[3];
static _Atomic long created, ran;
static _Atomic long loose; /* unfinished tasks for which no task waits */

static uint32_t draw(uint32_t* state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 16;
}

static void yield(void) {
#pragma omp taskyield
}

static void children(uint32_t* state, int depth, _Atomic long* of_parent);

/* The body of a task: one way to block, then perhaps tasks below. */
static void body(uint32_t seed, int depth, _Atomic long* of_parent) {
  uint32_t state = seed;
  _Atomic long below = 0;
  switch (draw(&state) % kWays) {
    case 0:
      omp_set_lock(&lock);
      ++guarded;
      yield();
      omp_unset_lock(&lock);
      break;
    case 1: children(&state, depth, &below);
#pragma omp taskwait
      CHECK_EQ(below, 0);
      break;
    case 2:
#pragma omp taskgroup
      children(&state, depth, &below);
      CHECK_EQ(below, 0);
      break;
    case 3: children(&state, depth, &loose); break;
    case 4: yield(); break;
    default: break;
  }
  ran++;
  --*of_parent;
}

static void children(uint32_t* state, int depth, _Atomic long* of_parent) {
  if (depth == kDepth) return;
  for (int i = 0; i < kChildren; ++i) {
    int priority = (int)(draw(state) % 12);
    uint32_t seed = *state;
    ++*of_parent;
    ++created;
    if (i % 3 == 0) {
#pragma omp task priority(priority) firstprivate(seed, depth, of_parent) untied
      body(seed, depth + 1, of_parent);
    } else if (i % 3 == 1) {
#pragma omp task priority(priority) firstprivate(seed, depth, of_parent) depend(inout : data[seed % 3])
      body(seed, depth + 1, of_parent);
    } else {
#pragma omp task priority(priority) firstprivate(seed, depth, of_parent)
      body(seed, depth + 1, of_parent);
    }
  }
}

int main(int argc, char** argv) {
  CHECK_EQ(argc, 2);
  uint32_t state = (uint32_t)atoi(argv[1]) * 2654435761u;
  omp_init_lock(&lock);
  for (int round = 0; round < 5; ++round) {
    _Atomic long left = 0;
#pragma omp parallel
#pragma omp single
    children(&state, 0, &left);
    CHECK_EQ(left, 0);
    CHECK_EQ(loose, 0);
  }
  omp_destroy_lock(&lock);
  CHECK_EQ(ran, created);
  CHECK_RANGE(guarded, 1, ran);
  return 0;
}
