/* SPDX-License-Identifier: Apache-2.0
 *
 * The constructs of one team, called by all of its threads, wherever that team is. What the team shares is in variables
 * of the thread that has the single construct, handed round by copyprivate.
 */
#ifndef PROGRAMS_INNER_CONSTRUCTS_H
#define PROGRAMS_INNER_CONSTRUCTS_H

#include "../check.h"
#include <omp.h>

typedef struct {
  int sum, single, sections, ordered, critical, atomic, tasks, chain[8];
} TeamSums;

static TeamSums* shared_sums(void) {
  TeamSums* sums = NULL;
#pragma omp single copyprivate(sums)
  sums = calloc(1, sizeof *sums);
  return sums;
}

static void free_sums(TeamSums* sums) {
#pragma omp barrier
#pragma omp single
  free(sums);
}

static void inner_worksharing(TeamSums* sums, int size) {
  int mine = 0;
#pragma omp for schedule(static, 3)
  for (int i = 0; i < 50; i++) mine += i;
#pragma omp for schedule(dynamic, 2) nowait
  for (int i = 0; i < 50; i++) mine += i;
#pragma omp for schedule(guided)
  for (int i = 0; i < 50; i++) mine += i;
#pragma omp critical(inner_constructs)
  {
    sums->sum += mine;
    sums->critical++;
  }
#pragma omp for ordered schedule(dynamic)
  for (int i = 0; i < 12; i++) {
#pragma omp ordered
    {
      CHECK_EQ(sums->ordered, i);
      sums->ordered++;
    }
  }
#pragma omp sections
  {
#pragma omp section
    {
#pragma omp atomic
      sums->sections++;
    }
#pragma omp section
    {
#pragma omp atomic
      sums->sections += 10;
    }
  }
#pragma omp single
  sums->single++;
#pragma omp atomic
  sums->atomic++;
#pragma omp barrier
  CHECK_EQ(sums->sum, 3 * 1225);
  CHECK_EQ(sums->critical, size);
  CHECK_EQ(sums->ordered, 12);
  CHECK_EQ(sums->sections, 11);
  CHECK_EQ(sums->single, 1);
  CHECK_EQ(sums->atomic, size);
}

/* Tasks with dependences from each thread, and a chain from one of them. */
static void inner_tasks(void) {
  TeamSums* sums = shared_sums();
  int size = omp_get_num_threads(), level = omp_get_level(), own = 0;
#pragma omp task shared(own) depend(out : own)
  own = 1;
#pragma omp task shared(own) depend(inout : own) firstprivate(level, size)
  {
    CHECK_EQ(own, 1);
    CHECK_EQ(omp_get_level(), level);
    CHECK_EQ(omp_get_num_threads(), size);
    own = 2;
  }
#pragma omp taskwait
  CHECK_EQ(own, 2);
#pragma omp single nowait
  for (int i = 0; i < 8; i++) {
#pragma omp task depend(inout : sums->chain[0]) firstprivate(i, sums)
    {
      CHECK_EQ(sums->chain[0], i);
      sums->chain[0]++;
#pragma omp task firstprivate(sums)
      {
#pragma omp atomic
        sums->tasks++;
      }
    }
  }
#pragma omp barrier
  CHECK_EQ(sums->chain[0], 8);
  CHECK_EQ(sums->tasks, 8);
  free_sums(sums);
}

static void inner_constructs(void) {
  TeamSums* sums = shared_sums();
  inner_worksharing(sums, omp_get_num_threads());
  free_sums(sums);
  inner_tasks();
}

#endif
